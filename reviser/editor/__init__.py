"""What every editor needs: checkers, revisions and their review, next edits, a text with its undo and its authors,
findings that move with the text, and lists of what stays."""
