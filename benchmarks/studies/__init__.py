"""One question each, with a command that answers it and writes a page."""
