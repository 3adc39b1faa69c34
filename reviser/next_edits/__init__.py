"""Next edits: suggestions of what else to change, given a person's latest edits."""
