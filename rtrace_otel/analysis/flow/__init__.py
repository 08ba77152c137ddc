"""How attempts and groups went on, phase by phase."""
