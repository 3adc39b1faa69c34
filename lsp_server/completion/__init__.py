"""Suggestions at the cursor: requesting, caching and shortening them."""
