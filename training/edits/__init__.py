"""Edits to trajectories: real ones, and made-up mistakes."""
