"""The everyday benchmark: continuations of everyday prompts, compared by a critic and checked for broken joins."""
