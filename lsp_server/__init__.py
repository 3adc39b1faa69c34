"""The language server: the model's suggestions and live edits in any editor."""
