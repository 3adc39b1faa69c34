"""The sections of a benchmark's report."""
