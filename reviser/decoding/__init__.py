"""From a model's scores to actions: policies, the sampler, rollouts, look-ahead and batches."""
