--- Next edits: what else to change after the user's own edits, drawn in the text, with keys to make or refuse it.
local client = require("reviser.client")
local config = require("reviser.config")

local M = {}

local namespace = vim.api.nvim_create_namespace("reviser.next_edits")

--- The offers of each buffer by their extmarks, which move with the text, and the buffers whose keys are mapped.
local offered = {}
local mapped = {}

local function position(row, column)
  return { line = row, character = column }
end

--- The offers of a buffer in their order, each with its present range.
function M.list(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  local found = {}
  for id, offer in pairs(offered[buffer] or {}) do
    local row, column, details = unpack(vim.api.nvim_buf_get_extmark_by_id(buffer, namespace, id, { details = true }))
    if row then
      local range = { start = position(row, column), ["end"] = position(details.end_row, details.end_col) }
      found[#found + 1] = vim.tbl_extend("force", offer, { range = range })
    end
  end
  table.sort(found, function(one, other)
    local first, second = one.range.start, other.range.start
    return first.line < second.line or (first.line == second.line and first.character < second.character)
  end)
  return found
end

--- Draw an offer: the old text struck out, the new one behind it.
local function draw(buffer, offer)
  local first, last = offer.range.start, offer.range["end"]
  local ok, id = pcall(vim.api.nvim_buf_set_extmark, buffer, namespace, first.line, first.character, {
    end_row = last.line,
    end_col = last.character,
    hl_group = offer.old ~= "" and "ReviserOld" or nil,
    -- An undo would move another mark, which has got the number of an earlier one.
    undo_restore = false,
  })
  if ok and offer.new ~= "" then
    pcall(vim.api.nvim_buf_set_extmark, buffer, namespace, last.line, last.character, {
      virt_text = { { offer.new, "ReviserChange" } },
      virt_text_pos = "inline",
      undo_restore = false,
    })
  end
  return ok and id or nil
end

--- Map the keys that exist only while edits are offered.
local function set_keys(buffer, wanted)
  if (mapped[buffer] or false) == wanted then
    return
  end
  mapped[buffer] = wanted or nil
  local keys = config.values.keys
  local actions = {
    { keys.next_edit, M.jump, "go to the next edit" },
    { keys.accept_edit, M.accept, "make this edit" },
    { keys.accept_all_edits, M.accept_all, "make this edit in all places" },
    { keys.refuse_edit, M.refuse, "do not offer this edit" },
  }
  for _, action in ipairs(actions) do
    local key, call, words = unpack(action)
    if key and wanted then
      vim.keymap.set({ "n", "i" }, key, call, { buffer = buffer, desc = "Reviser: " .. words })
    elseif key then
      pcall(vim.keymap.del, { "n", "i" }, key, { buffer = buffer })
    end
  end
end

--- Forget the offers of a buffer.
function M.forget(buffer)
  offered[buffer] = nil
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    set_keys(buffer, false)
  end
end

--- Handle the server's message with the next edits of a document. One about another version is stale.
function M.on_next_edits(_, params)
  local buffer = client.buffer(params.uri)
  if not buffer then
    return
  end
  M.forget(buffer)
  if #params.edits > 0 and vim.lsp.util.buf_versions[buffer] == params.version then
    offered[buffer] = {}
    for _, offer in ipairs(params.edits) do
      local id = draw(buffer, offer)
      if id then
        offered[buffer][id] = offer
      end
    end
    set_keys(buffer, true)
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "ReviserNextEdits", modeline = false })
end

local function cursor()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  return position(row - 1, column)
end

local function is_before(one, other)
  return one.line < other.line or (one.line == other.line and one.character < other.character)
end

--- The offer at the cursor, else the next one; behind the last comes the first.
local function nearest(beyond)
  local here, offers = cursor(), M.list()
  for _, offer in ipairs(offers) do
    local place = beyond and offer.range.start or offer.range["end"]
    if is_before(here, place) or (not beyond and vim.deep_equal(here, place)) then
      return offer
    end
  end
  return offers[1]
end

--- Go to the next edit.
function M.jump()
  local offer = nearest(true)
  if offer then
    vim.cmd("normal! m'")
    pcall(vim.api.nvim_win_set_cursor, 0, { offer.range.start.line + 1, offer.range.start.character })
  end
end

local function decide(command)
  local offer = nearest(false)
  if offer then
    client.command(command, { uri = vim.uri_from_bufnr(0), range = offer.range })
  else
    vim.notify("reviser: no next edit is offered here")
  end
end

--- Make the edit at the cursor, or the next one.
function M.accept()
  decide("acceptNextEdit")
end

--- Make all edits that follow from the same one of the user's.
function M.accept_all()
  decide("acceptAllNextEdits")
end

--- Do not offer the edit at the cursor, or the next one, any more.
function M.refuse()
  decide("refuseNextEdit")
end

return M
