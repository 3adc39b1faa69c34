"""Sentences of several languages: English ones are proofread however badly they are spelt, others are left alone."""
