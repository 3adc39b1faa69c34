if vim.g.loaded_reviser then
  return
end
vim.g.loaded_reviser = true

vim.api.nvim_create_user_command("Reviser", function(command)
  require("reviser.commands").run(command)
end, {
  nargs = "*",
  range = true,
  desc = "Let the model write or revise, or stop it",
  complete = function(lead, line)
    return require("reviser.commands").complete(lead, line)
  end,
})
