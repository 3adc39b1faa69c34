"""The guard: vetoes, doubts, calibrated confidence, and contradictions between suggestions."""
