"""The `reviser` command, also as `python -m reviser`; the heavy imports come once it can be interrupted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from reviser.cli.entry import run_command


def main() -> NoReturn:
    run_command(_load)


def _load() -> Callable[[], int]:
    from reviser.cli.garbage_collection import without_garbage_collection

    with without_garbage_collection():
        from reviser.cli.quick import quick_command

        if command := quick_command(sys.argv[1:]):
            return command
        from reviser.cli.app import run_app

        return run_app


if __name__ == "__main__":
    main()
