"""The training loop, its loss and settings, and the command of a run."""
