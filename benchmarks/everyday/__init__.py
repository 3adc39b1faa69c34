"""Everyday prompts, a critic that compares continuations of them, and joins that insertions broke."""
