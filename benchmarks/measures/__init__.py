"""Measures of texts: likelihood, variety, preference, MAUVE, edits and compute."""
