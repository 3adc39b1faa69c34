"""The terminal editor: a text, your cursor, and the model's cursor beside it."""
