"""Do the numbers of a trace add up? One small module per family of rules."""
