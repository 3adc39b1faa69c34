"""Mistakes in the texts that are open: found while the user pauses, shown, and fixed."""
