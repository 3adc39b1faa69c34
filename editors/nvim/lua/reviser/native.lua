--- Ghost text by Neovim's own inline completion, available from Neovim 0.12 on.
local M = {}

--- Whether this Neovim has it.
function M.available()
  return vim.lsp.inline_completion ~= nil and vim.lsp.inline_completion.enable ~= nil
end

--- Show suggestions in a buffer.
function M.attach(buffer)
  vim.lsp.inline_completion.enable(true, { bufnr = buffer })
end

--- Insert a part of a suggestion at the place of the whole.
local function write(text, unit)
  local ghost = require("reviser.ghost")
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  ghost.write(0, row - 1, column, ghost.part(text, unit))
end

--- Accept the suggestion or a part of it, or dismiss it; false if there is none. For expression mappings.
function M.take(unit)
  if unit == "all" then
    return vim.lsp.inline_completion.get()
  end
  return vim.lsp.inline_completion.get({
    on_accept = function(item)
      if unit ~= "dismiss" and type(item.insert_text) == "string" then
        write(item.insert_text, unit)
      end
    end,
  })
end

--- Request a suggestion now; by itself, Neovim requests one when the cursor has moved.
function M.request()
  vim.api.nvim_exec_autocmds("CursorMovedI", { buffer = 0, modeline = false })
end

return M
