"""Tests of the simulated job."""
