"""The job over time: attempts in lanes, bands of steps, refits, checkpoints and stops, and series of counts."""
