"""Reviser: a language model that writes with a cursor, and the tools built on it."""

__version__ = "0.2.0"
