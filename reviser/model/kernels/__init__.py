"""Triton kernels for GPUs: replacements of functions that the decoder computes."""
