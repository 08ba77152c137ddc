"""The ``rtrace`` command: one file per command; each parses, reads, analyses and prints."""
