"""Training: texts and edits become trajectories, trajectories become batches, and a model learns from them."""
