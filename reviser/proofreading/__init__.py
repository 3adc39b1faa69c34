"""Proofreading: corrections of the prose in a document, each with its own confidence, made where they keep the
structure."""
