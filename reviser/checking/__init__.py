"""Checking many documents for mistakes: several processes, a cache by content, reports for people and programs."""
