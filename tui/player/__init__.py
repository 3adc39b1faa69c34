"""The player: the user's commands to start, step through, save and review runs of the text that is shown."""
