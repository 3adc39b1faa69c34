"""An editable text: buffer, selection, undo, search, file and journal."""
