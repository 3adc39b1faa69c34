"""Misspellings: which words are not English, what they may stand for, and which of that the model finds likely."""
