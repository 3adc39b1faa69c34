"""Mistakes in open documents: finding them while the user writes, showing them, and fixing them."""
