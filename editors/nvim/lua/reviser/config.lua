--- The options and their defaults.
local M = {}

M.defaults = {
  -- The command that starts the server.
  cmd = { "reviser", "lsp" },
  -- The file types for which it is started; the server itself is on for prose alone.
  filetypes = { "text", "markdown", "rst", "tex", "plaintex", "html", "gitcommit", "mail" },
  -- The server's settings, as in its documentation.
  settings = {},
  -- Suggestions as ghost text while typing.
  ghost_text = true,
  -- Keys; false leaves one out.
  keys = {
    -- In insert mode. If no suggestion is shown, a key has its former function.
    accept = "<Tab>",
    accept_word = "<M-w>",
    accept_line = "<M-l>",
    dismiss = "<C-]>",
    -- In normal mode, in a buffer with pending changes.
    next_change = "]v",
    previous_change = "[v",
    keep_change = "<M-y>",
    put_back_change = "<M-n>",
    -- In normal and insert mode, in a buffer in which next edits are offered.
    next_edit = "<M-j>",
    accept_edit = "<M-a>",
    accept_all_edits = "<M-A>",
    refuse_edit = "<M-x>",
  },
}

M.values = vim.deepcopy(M.defaults)

function M.set(options)
  M.values = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), options or {})
  -- Lists are replaced whole, not merged by index.
  for _, name in ipairs({ "cmd", "filetypes" }) do
    if options and options[name] then
      M.values[name] = options[name]
    end
  end
end

return M
