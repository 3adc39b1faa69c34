"""What may be made of all that is suggested: vetoes, doubts, calibrated confidence, and what goes with what."""
