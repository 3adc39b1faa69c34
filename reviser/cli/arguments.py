"""The command line of a program that is not part of `reviser`, with the same manners."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from reviser.cli.entry import complain


class Parser(argparse.ArgumentParser):
    """A parser that says in one sentence what it does not understand."""

    def error(self, message: str) -> NoReturn:
        sys.exit(complain(f"{message} (see {self.prog} --help)"))
