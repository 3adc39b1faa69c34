--- Live runs: the server's edits as one undo step, the model's cursor, and the highlight of fresh text.
local client = require("reviser.client")

local M = {}

local namespace = vim.api.nvim_create_namespace("reviser.live")
local FRESH_MS = 900

--- The last edit of a run in each buffer: which run it was, and the state it left.
local last = {}
local status = { state = "idle" }

--- The status that the server sent last.
function M.status()
  return status
end

local function is_current(buffer, version)
  local known = vim.lsp.util.buf_versions[buffer]
  return version == nil or version == vim.NIL or known == nil or known == version
end

local BREAK = vim.api.nvim_replace_termcodes("<C-g>u", true, false, true)

--- Begin a new undo step with the next change of a buffer.
local function close_step(buffer)
  vim.api.nvim_buf_call(buffer, function()
    vim.cmd("let &g:undolevels = &g:undolevels")
  end)
end

--- In insert mode, keep what the user types next out of the undo step of the model's edit.
local function part_from_typing(buffer)
  if buffer == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode == "i" then
    vim.api.nvim_feedkeys(BREAK, "ni", false)
  end
end

--- Apply an edit. Those of one run are joined into one undo step, unless another change came between; a
--- reverted change is a step of its own. Text that the user typed never shares a step with them.
function M.apply_edit(err, params, context, ...)
  local label = params.label or ""
  local run = label:match("^Reviser run (.+)$")
  local change = label:match("^Reviser ") and params.edit.documentChanges and params.edit.documentChanges[1]
  if not change then
    return vim.lsp.handlers["workspace/applyEdit"](err, params, context, ...)
  end
  local buffer = client.buffer(change.textDocument.uri)
  if not buffer then
    return { applied = false, failureReason = "the buffer is closed" }
  end
  if not is_current(buffer, change.textDocument.version) then
    return { applied = false, failureReason = "the buffer has changed" }
  end
  if not vim.bo[buffer].modifiable then
    return { applied = false, failureReason = "the buffer cannot be modified" }
  end
  local before = last[buffer]
  if run and before and before.run == run and before.tick == vim.b[buffer].changedtick then
    vim.api.nvim_buf_call(buffer, function()
      pcall(vim.cmd, "silent undojoin")
    end)
  else
    close_step(buffer)
  end
  local encoding = assert(vim.lsp.get_client_by_id(context.client_id)).offset_encoding
  vim.lsp.util.apply_text_edits(change.edits, buffer, encoding)
  last[buffer] = { run = run, tick = vim.b[buffer].changedtick }
  part_from_typing(buffer)
  return { applied = true }
end

--- After a run that wrote nothing, let the first `u` say so and not undo the user's own last change.
local function guard_undo(buffer)
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(buffer, "n")) do
    if map.lhs == "u" then
      return
    end
  end
  local tick = vim.b[buffer].changedtick
  vim.keymap.set("n", "u", function()
    vim.keymap.del("n", "u", { buffer = buffer })
    if vim.b[buffer].changedtick == tick then
      vim.notify("reviser: the run wrote nothing; u again undoes your own last change")
    else
      vim.api.nvim_feedkeys(vim.v.count1 .. "u", "n", false)
    end
  end, { buffer = buffer, nowait = true, desc = "Reviser: undo" })
end

local function wrote(buffer, params)
  return last[buffer] ~= nil and last[buffer].run == params.runId
end

local function mark(buffer, range, group)
  pcall(vim.api.nvim_buf_set_extmark, buffer, namespace, range.start.line, range.start.character, {
    end_row = range["end"].line,
    end_col = range["end"].character,
    hl_group = group,
    strict = false,
  })
end

local function draw_cursor(buffer, position)
  pcall(vim.api.nvim_buf_set_extmark, buffer, namespace, position.line, position.character, {
    virt_text = { { "▏", "ReviserCursor" } },
    virt_text_pos = "inline",
    strict = false,
  })
end

--- Draw the state of a run; when it is over, its last insertion stays highlighted for a moment.
function M.on_run(_, params)
  local buffer = client.buffer(params.uri)
  if not buffer then
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for _, range in ipairs(params.fresh or {}) do
    mark(buffer, range, "ReviserFresh")
  end
  if params.state == "loading" or params.state == "writing" then
    draw_cursor(buffer, params.cursor)
  else
    vim.defer_fn(function()
      if vim.api.nvim_buf_is_valid(buffer) and status.runId == nil then
        vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
      end
    end, FRESH_MS)
    if (params.state == "stopped" or params.state == "finished") and not wrote(buffer, params) then
      guard_undo(buffer)
    end
    if params.state == "stopped" and params.reason and params.reason ~= vim.NIL and not params.said then
      local nothing = vim.deep_equal(params.region.start, params.region["end"]) and "; nothing was written" or ""
      vim.notify(("reviser: stopped: %s%s"):format(params.reason, nothing), vim.log.levels.INFO)
    end
  end
end

function M.on_status(_, params)
  status = params
  if status.runId == vim.NIL then
    status.runId = nil
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "ReviserStatus", modeline = false })
  vim.cmd.redrawstatus()
end

return M
