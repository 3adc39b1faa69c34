"""Models behind an OpenAI-compatible completions endpoint: our own server, and a client for any such server."""
