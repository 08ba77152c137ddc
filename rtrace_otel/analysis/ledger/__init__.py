"""Every rollout of a file, followed from dispatch to its end over all runs: the base of restore costs and waste."""
