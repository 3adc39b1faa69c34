--- The connection to the server, one for all buffers.
local config = require("reviser.config")

local M = {}

M.name = "reviser"

--- The running client, or nil.
function M.get()
  return vim.lsp.get_clients({ name = M.name })[1]
end

--- The loaded buffer of a document, or nil if it was closed before the server's message arrived.
function M.buffer(uri)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.uri_from_bufnr(buffer) == uri then
      return buffer
    end
  end
  return nil
end

local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  -- Columns in bytes are what Neovim's own functions take.
  all.general.positionEncodings = { "utf-8", "utf-16" }
  all.workspace.applyEdit = true
  all.workspace.workspaceEdit.documentChanges = true
  all.textDocument.inlineCompletion = { dynamicRegistration = false }
  all.experimental = { reviser = true }
  return all
end

--- Whether the server's program is installed; if not, the user is told once.
local function is_there(program)
  if vim.fn.executable(program) == 1 then
    return true
  end
  -- Raised as an error, it would also end the calling autocommand with a traceback.
  vim.notify_once(("reviser: %s cannot be started; see :checkhealth reviser"):format(program), vim.log.levels.WARN)
  return false
end

--- Start the server for a buffer, or attach the buffer to the running one.
function M.attach(buffer)
  if not is_there(config.values.cmd[1]) then
    return nil
  end
  local live = require("reviser.live")
  return vim.lsp.start({
    name = M.name,
    cmd = config.values.cmd,
    root_dir = vim.uv.cwd(),
    capabilities = capabilities(),
    init_options = config.values.settings,
    settings = { reviser = config.values.settings },
    -- The server waits for the change that each of its edits causes.
    flags = { debounce_text_changes = 20 },
    handlers = {
      ["workspace/applyEdit"] = live.apply_edit,
      ["reviser/run"] = live.on_run,
      ["reviser/status"] = live.on_status,
      ["reviser/nextEdits"] = require("reviser.next_edits").on_next_edits,
      ["reviser/changes"] = require("reviser.changes").on_changes,
    },
  }, {
    bufnr = buffer,
    reuse_client = function(client)
      return client.name == M.name
    end,
  })
end

--- Send a request; Neovim 0.11 changed the call of a client's methods.
function M.request(method, params, handler, buffer)
  local client = M.get()
  if not client then
    return nil
  end
  local ok, id
  if vim.fn.has("nvim-0.11") == 1 then
    ok, id = client:request(method, params, handler, buffer)
  else
    ok, id = client.request(method, params, handler, buffer)
  end
  return ok and id or nil
end

function M.cancel(id)
  local client = M.get()
  if not client then
    return
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:cancel_request(id)
  else
    client.cancel_request(id)
  end
end

--- Run one of the server's commands; `done` is called with its result.
function M.command(name, argument, done)
  local buffer = vim.api.nvim_get_current_buf()
  local params = { command = "reviser." .. name, arguments = { argument or vim.empty_dict() } }
  local sent = M.request("workspace/executeCommand", params, function(err, result)
    if err then
      vim.notify("reviser: " .. err.message, vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end, buffer)
  if not sent then
    vim.notify("reviser: no server runs for this buffer; see :checkhealth reviser", vim.log.levels.WARN)
  end
end

return M
