--- The pending changes of a revision: drawing them, moving between them, and deciding about them.
local client = require("reviser.client")
local config = require("reviser.config")

local M = {}

local namespace = vim.api.nvim_create_namespace("reviser.changes")
local SHOWN = 40

--- The pending changes of each buffer, and the buffers whose keys are mapped.
local waiting = {}
local mapped = {}
--- The change that the cursor was brought to, and where it came to stand: in normal mode it cannot stand behind a
--- line's last character, where something may have been taken out, nor apart at two changes of one character.
local visited = nil

--- The pending changes of a buffer, in their order.
function M.list(buffer)
  return waiting[buffer or vim.api.nvim_get_current_buf()] or {}
end

--- A text on one line, shortened if it is long.
local function short(text)
  local line = text:gsub("%s+", " ")
  if vim.fn.strchars(line) > SHOWN then
    line = vim.fn.strcharpart(line, 0, SHOWN - 1) .. "…"
  end
  return line
end

local function draw(buffer, change)
  local first, last = change.range.start, change.range["end"]
  local old = nil
  if change.old ~= "" then
    old = { { short(change.old), "ReviserOld" }, { change.new:match("^%s") and "" or " " } }
  end
  pcall(vim.api.nvim_buf_set_extmark, buffer, namespace, first.line, first.character, {
    end_row = last.line,
    end_col = last.character,
    hl_group = change.new ~= "" and "ReviserChange" or nil,
    virt_text = old,
    virt_text_pos = old and "inline" or nil,
    strict = false,
  })
end

--- Map the keys that exist only while changes are pending.
local function set_keys(buffer, wanted)
  if (mapped[buffer] or false) == wanted then
    return
  end
  mapped[buffer] = wanted or nil
  local keys = config.values.keys
  local actions = {
    { keys.next_change, M.next, "the next change" },
    { keys.previous_change, M.previous, "the change before" },
    { keys.keep_change, M.keep, "keep this change" },
    { keys.put_back_change, M.put_back, "put back this change" },
  }
  for _, action in ipairs(actions) do
    local key, call, words = unpack(action)
    if key and wanted then
      vim.keymap.set("n", key, call, { buffer = buffer, desc = "Reviser: " .. words })
    elseif key then
      pcall(vim.keymap.del, "n", key, { buffer = buffer })
    end
  end
end

--- Handle the server's message with the pending changes of a document.
function M.on_changes(_, params)
  local buffer = client.buffer(params.uri)
  if not buffer then
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  waiting[buffer] = #params.changes > 0 and params.changes or nil
  for _, change in ipairs(params.changes) do
    draw(buffer, change)
  end
  set_keys(buffer, #params.changes > 0)
  vim.api.nvim_exec_autocmds("User", { pattern = "ReviserChanges", modeline = false })
end

--- Forget all about a buffer.
function M.forget(buffer)
  waiting[buffer] = nil
  set_keys(buffer, false)
end

local function cursor()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  return { line = row - 1, character = column }
end

local function is_before(one, other)
  return one.line < other.line or (one.line == other.line and one.character < other.character)
end

local function go_to(change)
  if change then
    vim.cmd("normal! m'")
    local start = change.range.start
    local rows = vim.api.nvim_buf_line_count(0)
    pcall(vim.api.nvim_win_set_cursor, 0, { math.min(start.line + 1, rows), start.character })
    visited = { buffer = vim.api.nvim_get_current_buf(), id = change.id, place = cursor() }
  end
end

--- The index of the change that the cursor was moved to, if it is still there.
local function current(changes)
  local buffer = vim.api.nvim_get_current_buf()
  if visited and visited.buffer == buffer and vim.deep_equal(visited.place, cursor()) then
    for index, change in ipairs(changes) do
      if change.id == visited.id then
        return index
      end
    end
  end
  return nil
end

--- Go to the next change; after the last comes the first.
function M.next()
  local here, changes = cursor(), M.list()
  local index = current(changes)
  if index then
    return go_to(changes[index % #changes + 1])
  end
  for _, change in ipairs(changes) do
    if is_before(here, change.range.start) then
      return go_to(change)
    end
  end
  go_to(changes[1])
end

--- Go to the previous change; before the first comes the last.
function M.previous()
  local here, changes = cursor(), M.list()
  local index = current(changes)
  if index then
    return go_to(changes[(index - 2) % #changes + 1])
  end
  for position = #changes, 1, -1 do
    if is_before(changes[position].range.start, here) then
      return go_to(changes[position])
    end
  end
  go_to(changes[#changes])
end

--- After a decision, go to the first change that is not before the cursor.
local function go_on()
  local here, changes = cursor(), M.list()
  for _, change in ipairs(changes) do
    if not is_before(change.range.start, here) then
      return go_to(change)
    end
  end
  go_to(changes[1])
end

local function decide(command)
  local buffer = vim.api.nvim_get_current_buf()
  local about = { uri = vim.uri_from_bufnr(buffer) }
  local index = current(M.list())
  if index then
    about.changeId = M.list()[index].id
  else
    about.position = cursor()
  end
  client.command(command, about, function()
    if buffer == vim.api.nvim_get_current_buf() then
      go_on()
    end
  end)
end

--- Keep the change at the cursor, or the nearest in its line, and go to the next.
function M.keep()
  decide("acceptChange")
end

--- Revert the change at the cursor, or the nearest in its line, and go to the next.
function M.put_back()
  decide("rejectChange")
end

--- Keep all changes of the buffer.
function M.keep_all()
  client.command("acceptAllChanges", { uri = vim.uri_from_bufnr(0) })
end

--- Revert all changes of the buffer.
function M.put_back_all()
  client.command("rejectAllChanges", { uri = vim.uri_from_bufnr(0) })
end

return M
