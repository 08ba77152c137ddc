"""How stale the tokens are that steps train on."""
