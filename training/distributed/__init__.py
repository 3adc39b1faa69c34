"""Checkpoints that several processes write and read together."""
