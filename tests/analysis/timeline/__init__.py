"""Tests of the timeline's analysis."""
