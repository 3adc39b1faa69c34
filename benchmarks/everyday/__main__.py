"""`python -m benchmarks.everyday` is `reviser bench everyday`."""

import sys

from benchmarks.everyday.command import main

sys.exit(main(prog="python -m benchmarks.everyday"))
