"""Measurements: the paper's continuation benchmark (`suite`), its costs and statistics, and speed."""
