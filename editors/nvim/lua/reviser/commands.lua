--- The command `:Reviser` and its subcommands.
local changes = require("reviser.changes")
local client = require("reviser.client")
local edits = require("reviser.next_edits")

local M = {}

local function uri()
  return vim.uri_from_bufnr(0)
end

local function position(row, column)
  return { line = row, character = column }
end

--- The target of a command: the lines of a range, or the cursor's position.
local function place(command)
  if command.range > 0 then
    local last = vim.api.nvim_buf_get_lines(0, command.line2 - 1, command.line2, false)[1] or ""
    return {
      start = position(command.line1 - 1, 0),
      ["end"] = position(command.line2 - 1, #last),
    }
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  return { start = position(row - 1, column), ["end"] = position(row - 1, column) }
end

--- Decide about the change at the cursor, or about all; if none is pending, about the last run.
local function decide(command, one, all, run)
  if #changes.list() == 0 then
    client.command(run, { uri = uri() })
  elseif command.fargs[2] == "all" then
    all()
  else
    one()
  end
end

M.list = {
  continue = function()
    client.command("continue", { uri = uri() })
  end,
  infill = function(command)
    client.command("infill", { uri = uri(), range = place(command) })
  end,
  revise = function(command)
    client.command("revise", { uri = uri(), range = place(command) })
  end,
  paragraph = function(command)
    client.command("reviseParagraph", { uri = uri(), range = place(command) })
  end,
  stop = function()
    client.command("stop")
  end,
  accept = function(command)
    decide(command, changes.keep, changes.keep_all, "accept")
  end,
  reject = function(command)
    decide(command, changes.put_back, changes.put_back_all, "reject")
  end,
  next = changes.next,
  previous = changes.previous,
  jump = edits.jump,
  take = function(command)
    local all = command.fargs[2] == "all"
    (all and edits.accept_all or edits.accept)()
  end,
  refuse = edits.refuse,
  undo = function()
    client.command("undo", { uri = uri() })
  end,
  suggest = function()
    require("reviser").ghost().request(true)
  end,
  toggle = function()
    client.command("setEnabled", { uri = uri() }, function(status)
      vim.notify("reviser is " .. (status.enabled and "on" or "off") .. " for this buffer")
    end)
  end,
  model = function(command)
    client.command("setModel", { model = command.fargs[2] or "" }, function(status)
      local name = status.model ~= vim.NIL and status.model or "the embedded model"
      vim.notify("reviser uses " .. name)
    end)
  end,
  status = function(command)
    client.command("status", { uri = uri() }, function(status)
      local model = status.model ~= vim.NIL and status.model or "the embedded model"
      local where = status.enabled and "" or ", off for this buffer"
      local state = status.problem ~= vim.NIL and status.problem or status.state
      local more = command.fargs[1] and "" or "; see :help :Reviser"
      vim.notify(("reviser: %s, %s%s%s"):format(state, model, where, more))
    end)
  end,
}

--- Run a subcommand by its name; without one, show the server's state and where the names are listed.
function M.run(command)
  local name = command.fargs[1] or "status"
  if M.list[name] then
    M.list[name](command)
  else
    vim.notify("reviser: there is no :Reviser " .. name, vim.log.levels.ERROR)
  end
end

function M.complete(lead, line)
  local decides = line:match("Reviser%s+accept%s") or line:match("Reviser%s+reject%s") or line:match("Reviser%s+take%s")
  local found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, decides and { "all" } or vim.tbl_keys(M.list))
  table.sort(found)
  return found
end

return M
