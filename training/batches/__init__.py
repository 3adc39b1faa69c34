"""Samples to batches: packed rows, made ahead of need by threads."""
