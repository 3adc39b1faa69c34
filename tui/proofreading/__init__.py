"""Mistakes in open texts: found while the user pauses, shown, and fixed."""
