"""Next edits in open documents: following what the user changes, showing what else to change, and making it."""
