"""The training loop, its loss and settings, and a whole run."""
