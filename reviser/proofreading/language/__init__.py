"""Which words of a text are in English, and which in another language."""
