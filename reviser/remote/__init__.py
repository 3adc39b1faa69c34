"""Models behind an OpenAI-compatible completions endpoint: a server of our own, and the client of any such server."""
