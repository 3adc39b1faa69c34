"""Triton kernels for GPUs: drop-in functions for what the decoder computes."""
