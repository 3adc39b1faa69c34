"""File formats of other programs: GGUF, Hugging Face folders, released torch files."""
