"""Lets `python -m reviser` do what the `reviser` command does."""

from reviser.cli import main

if __name__ == "__main__":
    main()
