"""The documents that editors have open, and the changes in them that wait for a decision."""
