--- Reviser in Neovim: suggestions as ghost text, and a model that writes in the buffer while you watch.
local config = require("reviser.config")

local M = {}

local group = vim.api.nvim_create_augroup("reviser", { clear = true })

--- Removed text is highlighted as in a diff, and struck out.
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

--- The module that draws suggestions: Neovim's own where it has one, else this plugin's.
function M.ghost()
  local native = require("reviser.native")
  return native.available() and native or require("reviser.ghost")
end

--- Whether a key is held with Alt. From a mapping, Neovim would write the letter of such a key.
local function has_alt(key)
  return key:match("^<.*[mMaA]%-") ~= nil
end

--- A key's former function: the user's mapping, else Neovim's own, which keys with Alt do not have.
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
    -- A right-hand side that refers to other mappings, such as those of plugins.
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, true, true), "im", false)
    return ""
  end
end

--- Map a key that accepts a suggestion if one is shown, and else has its former function.
local function map(key, unit)
  if not key then
    return
  end
  local fall_back = otherwise(key)
  vim.keymap.set("i", key, function()
    return M.ghost().take(unit) and "" or fall_back()
  end, { expr = true, desc = "Reviser: " .. unit })
end

--- Start the plugin with options that override those of `reviser.config`.
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
      require("reviser.next_edits").forget(event.buf)
    end,
  })
  local keys = config.values.keys
  map(keys.accept, "all")
  map(keys.accept_word, "word")
  map(keys.accept_line, "line")
  map(keys.dismiss, "dismiss")
end

--- The state of the server for a status line: "idle", "thinking", "loading", "writing 38/s", "failed" or "off".
function M.status()
  local status = require("reviser.live").status()
  if status.state == "writing" and (status.actionsPerSecond or 0) > 0 then
    return ("writing %d/s"):format(status.actionsPerSecond)
  end
  return status.state
end

return M
