--- Reviser in Neovim: suggestions as ghost text, and a model that writes in the buffer while you watch.
local config = require("reviser.config")

local M = {}

local group = vim.api.nvim_create_augroup("reviser", { clear = true })

--- What is removed looks as it does in a diff, and is struck out.
local function struck_out()
  local removed = vim.api.nvim_get_hl(0, { name = "DiffDelete", link = false })
  return vim.tbl_extend("force", removed, { strikethrough = true, default = true })
end

local function set_highlights()
  vim.api.nvim_set_hl(0, "ReviserGhost", { link = "NonText", default = true })
  vim.api.nvim_set_hl(0, "ReviserFresh", { link = "DiffAdd", default = true })
  vim.api.nvim_set_hl(0, "ReviserCursor", { link = "WarningMsg", default = true })
  vim.api.nvim_set_hl(0, "ReviserChange", { link = "DiffAdd", default = true })
  vim.api.nvim_set_hl(0, "ReviserOld", struck_out())
end

--- Who draws suggestions: Neovim itself where it can, else this plugin.
function M.ghost()
  local native = require("reviser.native")
  return native.available() and native or require("reviser.ghost")
end

--- Whether a key is held with Alt. From a mapping, Neovim would write the letter of such a key.
local function has_alt(key)
  return key:match("^<.*[mMaA]%-") ~= nil
end

--- What a key did before it was ours: the user's mapping, else Neovim's own work, which a key with Alt has none of.
local function otherwise(key)
  local before = vim.fn.maparg(key, "i", false, true)
  if vim.tbl_isempty(before) or (before.desc or ""):match("^Reviser") then
    return function()
      return has_alt(key) and "" or key
    end
  elseif before.callback and before.expr == 1 then
    return before.callback
  elseif before.callback then
    return function()
      vim.schedule(before.callback)
      return ""
    end
  end
  return function()
    local keys = before.expr == 1 and vim.api.nvim_eval(before.rhs) or before.rhs
    if before.noremap == 1 then
      return keys
    end
    -- What stands for other mappings, such as those of plugins.
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, true, true), "im", false)
    return ""
  end
end

--- A key that accepts if there is something to accept, and does what it did otherwise.
local function map(key, unit)
  if not key then
    return
  end
  local fall_back = otherwise(key)
  vim.keymap.set("i", key, function()
    return M.ghost().take(unit) and "" or fall_back()
  end, { expr = true, desc = "Reviser: " .. unit })
end

--- Start, with what the user wants otherwise than it is in `reviser.config`.
function M.setup(options)
  config.set(options)
  set_highlights()
  vim.api.nvim_clear_autocmds({ group = group })
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = set_highlights })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = config.values.filetypes,
    callback = function(event)
      if vim.bo[event.buf].buftype ~= "" or not require("reviser.client").attach(event.buf) then
        return
      end
      if config.values.ghost_text then
        M.ghost().attach(event.buf, group)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufUnload", {
    group = group,
    callback = function(event)
      require("reviser.changes").forget(event.buf)
    end,
  })
  local keys = config.values.keys
  map(keys.accept, "all")
  map(keys.accept_word, "word")
  map(keys.accept_line, "line")
  map(keys.dismiss, "dismiss")
end

--- What the server does, for a status line: "idle", "thinking", "loading", "writing 38/s", "failed" or "off".
function M.status()
  local status = require("reviser.live").status()
  if status.state == "writing" and (status.actionsPerSecond or 0) > 0 then
    return ("writing %d/s"):format(status.actionsPerSecond)
  end
  return status.state
end

return M
