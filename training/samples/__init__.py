"""Texts to trajectories: obfuscation, its compiled generator, mixtures and samples."""
