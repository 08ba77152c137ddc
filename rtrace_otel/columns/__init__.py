"""Answers as tables: one row per run, attempt, group, step and so on, with typed columns."""
