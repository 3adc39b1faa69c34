"""How often a proofreader's changes are right: candidates with verdicts, a calibration fitted to them, and the page
of it."""
