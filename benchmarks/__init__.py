"""Measurements: each module is a command that prints what it measured and can write it down."""
