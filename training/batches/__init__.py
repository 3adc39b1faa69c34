"""Batches for training: samples packed into rows by background threads."""
