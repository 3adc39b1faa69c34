"""`python -m benchmarks.proofreading` is `reviser bench proofreading`."""

import sys

from benchmarks.proofreading.command import main

sys.exit(main(prog="python -m benchmarks.proofreading"))
