"""Spelling: words that are not English, their possible corrections, and the model's choice among these."""
