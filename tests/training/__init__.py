"""Tests of the training data and of training."""
