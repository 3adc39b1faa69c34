"""Mistakes that are sure from the words alone, and what they become: rules as data, and what matches them."""
