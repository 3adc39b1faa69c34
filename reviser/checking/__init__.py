"""Checking of many documents: several processes, a cache by content, reports for people and programs."""
