"""What a project or its user says of proofreading: which files, settings, words that stay, findings to ignore."""
