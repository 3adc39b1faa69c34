"""The benchmark of next edits: predictions after the first edits of people's sessions."""
