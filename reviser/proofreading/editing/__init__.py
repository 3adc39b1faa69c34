"""Mistakes in a document that is being edited: what was found, kept in its place, and what is to be left alone."""
