--- The report of `:checkhealth reviser`.
local config = require("reviser.config")

local M = {}

--- The second line of `reviser --version` says why models run slowly; usually there is none.
local function check_speed()
  local command = {}
  for _, word in ipairs(config.values.cmd) do
    if word == "lsp" then
      break
    end
    table.insert(command, word)
  end
  table.insert(command, "--version")
  local ok, done = pcall(function()
    return vim.system(command, { text = true }):wait(10000)
  end)
  if not ok or done.code ~= 0 then
    return
  end
  local lines = vim.split(vim.trim(done.stdout or ""), "\n")
  vim.health.info(lines[1])
  if lines[2] then
    vim.health.warn(lines[2])
  end
end

local function check_server()
  local program = config.values.cmd[1]
  if vim.fn.executable(program) == 0 then
    vim.health.error(program .. " cannot be started", {
      "Install it with: pip install 'reviser[lsp]'",
      "Or set its place: require('reviser').setup({ cmd = { '/path/to/reviser', 'lsp' } })",
    })
    return
  end
  vim.health.ok(program .. " is " .. vim.fn.exepath(program))
  check_speed()
end

local function check_client()
  local client = require("reviser.client").get()
  if client then
    vim.health.ok("the server runs (" .. client.offset_encoding .. " positions)")
  else
    vim.health.info("no server runs; it starts with a buffer of: " .. table.concat(config.values.filetypes, ", "))
  end
end

function M.check()
  vim.health.start("reviser")
  if vim.fn.has("nvim-0.10") == 1 then
    vim.health.ok("Neovim " .. tostring(vim.version()))
  else
    vim.health.error("Neovim 0.10 or later is needed")
  end
  check_server()
  check_client()
end

return M
