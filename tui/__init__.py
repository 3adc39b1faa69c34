"""The terminal editor: text, the user's cursor, and the model's cursor beside it."""
