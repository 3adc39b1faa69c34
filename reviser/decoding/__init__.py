"""Decoding: from a model's scores to actions, by policies, the sampler, rollouts, look-ahead and batches."""
