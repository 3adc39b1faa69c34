"""Suggestions at the cursor: made, cached, and cut to what fits."""
