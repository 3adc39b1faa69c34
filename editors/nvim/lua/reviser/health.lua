--- :checkhealth reviser
local config = require("reviser.config")

local M = {}

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
