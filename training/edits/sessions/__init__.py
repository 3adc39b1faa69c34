"""Sessions: all edits of a person to one text, from which a model learns to predict the next edit."""
