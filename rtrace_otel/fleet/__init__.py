"""Many traces at once: each file is read by itself, and its numbers are added up."""
