"""Token ids, edit actions, the canvas, its text, tokenizers and files: the base of every other package."""
