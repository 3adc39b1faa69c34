"""Edits as trajectories: real edits, synthetic mistakes and editing sessions."""
