"""Trajectories from texts: obfuscation, its compiled generator, mixtures and samples."""
