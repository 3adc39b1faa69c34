"""How likely and how good texts are: perplexity, evaluators and judges, for training and benchmarks."""
