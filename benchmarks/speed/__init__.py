"""Speed benchmarks: decoding, the canvas, proofreading, start-up, suggestions in editors."""
