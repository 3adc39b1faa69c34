"""Benchmarks: the paper's continuation benchmark (`suite`), costs, statistics, proofreading, next edits and speed."""
