"""The command line: the app, its start, and what its commands share."""
