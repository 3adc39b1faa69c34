"""The documents that editors have open, and the changes that wait in them."""
