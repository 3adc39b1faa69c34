"""Sessions: all edits of a person to one text, from which a model learns what the next edit will be."""
