"""Training data and training: obfuscation to trajectories, trajectories to batches."""
