"""Texts to token shards, and reading them back."""
