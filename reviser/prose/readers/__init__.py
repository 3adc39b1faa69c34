"""Readers that find the prose in a document, one module for each kind of format."""
