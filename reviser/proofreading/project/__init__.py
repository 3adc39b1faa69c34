"""A project's or user's configuration of proofreading: files, settings, words that stay, findings to ignore."""
