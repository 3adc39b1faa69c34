--- What a user can set, with its defaults.
local M = {}

M.defaults = {
  -- How to start the server.
  cmd = { "reviser", "lsp" },
  -- Where to start it; the server itself is on for prose alone.
  filetypes = { "text", "markdown", "rst", "tex", "plaintex", "html", "gitcommit", "mail" },
  -- The server's settings, as in its documentation.
  settings = {},
  -- Suggestions as ghost text while typing.
  ghost_text = true,
  -- Keys; false leaves one out.
  keys = {
    -- Of insert mode. Where there is nothing to accept, a key does what it did.
    accept = "<Tab>",
    accept_word = "<M-w>",
    accept_line = "<M-l>",
    dismiss = "<C-]>",
    -- Of normal mode, in a buffer where changes wait to be kept or put back.
    next_change = "]v",
    previous_change = "[v",
    keep_change = "<M-y>",
    put_back_change = "<M-n>",
  },
}

M.values = vim.deepcopy(M.defaults)

function M.set(options)
  M.values = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), options or {})
  -- Lists are replaced whole, not merged by index.
  for _, name in ipairs({ "cmd", "filetypes" }) do
    if options and options[name] then
      M.values[name] = options[name]
    end
  end
end

return M
