"""Scores of texts: perplexity, evaluators and judges, for training and benchmarks."""
