"""Live runs: the model's edits in a document that the user may be editing."""
