"""Next edits in open texts: where the user's last edits could be made again, offered while he pauses."""
