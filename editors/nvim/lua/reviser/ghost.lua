--- Ghost text: the suggestion at the cursor, drawn but not inserted until it is accepted.
local client = require("reviser.client")

local M = {}

local namespace = vim.api.nvim_create_namespace("reviser.ghost")

--- The suggestion that is shown: its buffer, cursor position and text.
local shown = nil
local pending = nil

local function cursor()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  return row - 1, column
end

local function clear_marks(buffer)
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  end
end

--- Remove the suggestion from the screen.
function M.clear()
  if shown then
    clear_marks(shown.buffer)
    shown = nil
  end
end

function M.visible()
  if not shown or shown.buffer ~= vim.api.nvim_get_current_buf() then
    return false
  end
  local row, column = cursor()
  return row == shown.row and column == shown.column
end

--- The text that is shown, or nil.
function M.text()
  return shown and shown.text
end

local function show(buffer, row, column, text)
  M.clear()
  local lines = vim.split(text, "\r?\n")
  local below = {}
  for index = 2, #lines do
    below[#below + 1] = { { lines[index], "ReviserGhost" } }
  end
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, column, {
    virt_text = { { lines[1], "ReviserGhost" } },
    virt_text_pos = "inline",
    virt_lines = #below > 0 and below or nil,
    strict = false,
  })
  shown = { buffer = buffer, row = row, column = column, text = text }
end

--- While the user types the suggested text, keep the rest of it on the screen without flicker.
local function follow_typing(buffer, row, column)
  if not shown or shown.buffer ~= buffer or shown.row ~= row or column <= shown.column then
    return false
  end
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ""
  local typed = line:sub(shown.column + 1, column)
  if #typed < #shown.text and shown.text:sub(1, #typed) == typed then
    show(buffer, row, column, shown.text:sub(#typed + 1))
    return true
  end
  return false
end

--- Request a suggestion at the cursor; `invoked` if the user asked for it.
function M.request(invoked)
  if pending then
    client.cancel(pending)
    pending = nil
  end
  local buffer = vim.api.nvim_get_current_buf()
  local row, column = cursor()
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = row, character = column },
    context = { triggerKind = invoked and 1 or 2 },
  }
  local tick = vim.b[buffer].changedtick
  local id
  id = client.request("textDocument/inlineCompletion", params, function(err, result)
    if pending ~= id then
      return
    end
    pending = nil
    if err or not result or vim.b[buffer].changedtick ~= tick then
      return
    end
    local at_row, at_column = cursor()
    if vim.api.nvim_get_current_buf() ~= buffer or at_row ~= row or at_column ~= column then
      return
    end
    local item = (result.items or result)[1]
    if item and vim.api.nvim_get_mode().mode:sub(1, 1) == "i" then
      show(buffer, row, column, item.insertText)
    else
      M.clear()
    end
  end, buffer)
  pending = id
end

--- Handle a change of the cursor or the text in insert mode.
function M.update()
  local row, column = cursor()
  if not follow_typing(vim.api.nvim_get_current_buf(), row, column) then
    M.clear()
  end
  M.request(false)
end

--- The first word or line of a text, or all of it.
function M.part(text, unit)
  if unit == "word" then
    return text:match("^%s*%S+") or text
  elseif unit == "line" then
    return text:match("^\r?\n?[^\r\n]*") or text
  end
  return text
end

--- Insert a text at a position and put the cursor behind it; returns the cursor's position.
function M.write(buffer, row, column, text)
  local lines = vim.split(text, "\r?\n")
  vim.api.nvim_buf_set_text(buffer, row, column, row, column, lines)
  local end_row = row + #lines - 1
  local end_column = #lines > 1 and #lines[#lines] or column + #text
  vim.api.nvim_win_set_cursor(0, { end_row + 1, end_column })
  return end_row, end_column
end

--- Insert the suggestion, or its first word or line; false if there is none.
function M.accept(unit)
  if not M.visible() then
    return false
  end
  local buffer, row, column, text = shown.buffer, shown.row, shown.column, shown.text
  local taken = M.part(text, unit)
  M.clear()
  local end_row, end_column = M.write(buffer, row, column, taken)
  if #taken < #text then
    show(buffer, end_row, end_column, text:sub(#taken + 1))
  end
  return true
end

--- Cancel the request for a suggestion, and remove the one that is shown.
function M.dismiss()
  if pending then
    client.cancel(pending)
    pending = nil
  end
  M.clear()
end

--- Show suggestions in a buffer.
function M.attach(buffer, group)
  vim.api.nvim_create_autocmd({ "TextChangedI", "CursorMovedI" }, {
    group = group,
    buffer = buffer,
    callback = M.update,
  })
  vim.api.nvim_create_autocmd({ "InsertLeave", "BufLeave" }, {
    group = group,
    buffer = buffer,
    callback = M.dismiss,
  })
end

--- Accept the suggestion or a part of it, or dismiss it; false if there is none. For expression mappings.
function M.take(unit)
  if not M.visible() then
    return false
  end
  vim.schedule(function()
    if unit == "dismiss" then
      M.dismiss()
    else
      M.accept(unit)
    end
  end)
  return true
end

return M
