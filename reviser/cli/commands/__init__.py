"""The commands of `reviser`, one module for each group."""
