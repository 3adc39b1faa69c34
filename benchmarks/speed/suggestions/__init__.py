"""The latency of the language server in a replayed typing session."""
