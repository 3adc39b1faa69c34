"""The continuation protocol: its texts, records, run folders and cache."""
