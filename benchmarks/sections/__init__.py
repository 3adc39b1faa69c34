"""The sections of a report: a module for each thing that it shows."""
