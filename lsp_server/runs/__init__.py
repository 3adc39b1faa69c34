"""Live runs: the model's edits in a document that its user may be editing."""
