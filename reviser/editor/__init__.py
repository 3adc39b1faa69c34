"""Proofreading for editors: checkers, revisions, findings that move with the text, and lists of what stays."""
