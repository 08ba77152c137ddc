"""Two files, or two runs of one file, side by side."""
