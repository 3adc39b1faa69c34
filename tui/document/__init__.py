"""A text under edit: buffer, selection, undo, search, file and journal."""
