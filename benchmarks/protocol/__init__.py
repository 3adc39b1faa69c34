"""The continuation protocol: texts, records, run folders and cache."""
