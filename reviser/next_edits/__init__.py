"""Next edits: the model is shown what a person has just changed, and proposes what else to change."""
