"""Tests of what follows rollouts over stops and restores."""
