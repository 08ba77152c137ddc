"""Columns of the charts of staleness: one row for each training step."""

from __future__ import annotations

from rtrace_otel.analysis.staleness import Staleness
from rtrace_otel.report.html.columns import Columns, floats, numbers


def age_columns(found: Staleness) -> Columns:
    """Batch age, percentiles and parts of the age of each step, in versions; unknown is NaN."""
    ages = found.ages.steps
    splits = [detail.split for detail in found.steps]
    return {
        "step": numbers([age.step for age in ages]),
        "age": floats([age.best for age in ages]),
        "logged": floats([age.logged for age in ages]),
        "p50": numbers([age.p50 for age in ages]),
        "p95": numbers([age.p95 for age in ages]),
        "max": numbers([age.max for age in ages]),
        "tokens": numbers([age.tokens for age in ages]),
        **{
            part: floats([None if split is None else getattr(split, part) for split in splits])
            for part in ("in_call", "in_group", "in_queue", "train_lag")
        },
    }
