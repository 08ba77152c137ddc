"""The version of this package, in a leaf of its own so that ``rtrace --version`` imports nothing else."""

__version__ = "0.1.0"
