"""Runs of the model: the worker thread, a run as a tree of steps, review and recordings."""
