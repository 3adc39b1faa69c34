"""Triton's interpreter as a backend named `cpu`, which vLLM's second model runner asks for on a machine without a
GPU."""
