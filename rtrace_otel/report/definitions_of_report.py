"""Numbers that only the page of ``rtrace report`` shows."""

from __future__ import annotations

from typing import Final

from rtrace_otel.report.definition import HERE, Definition

_REPORT: Final = ("report",)

REPORT_DEFINITIONS: Final = (
    Definition(
        "open_attempts",
        _REPORT,
        "Attempts that are open, over time.",
        "time that attempts were open within the stretch / length of the stretch",
        "attempts",
        HERE,
    ),
    Definition(
        "reserved_groups",
        _REPORT,
        "Groups that are reserved and not yet published, over time.",
        "mean over the stretch of time, as of open_attempts",
        "groups",
        HERE,
    ),
    Definition(
        "queued_groups",
        _REPORT,
        "Published groups that wait for a step, over time; those that a restore brings back wait on through the stop.",
        "mean over the stretch of time, as of open_attempts",
        "groups",
        HERE,
        ("published groups waiting",),
    ),
    Definition(
        "generated_tokens_per_s",
        _REPORT,
        "Tokens generated, over time. What an attempt kept from an earlier one does not count again.",
        "sum over attempts of tokens spread evenly over the attempt's time",
        "tokens per second",
        HERE,
    ),
    Definition(
        "trained_tokens_per_s",
        _REPORT,
        "Tokens trained, over time.",
        "sum over steps of tokens spread evenly over the step's time",
        "tokens per second",
        HERE,
    ),
    Definition(
        "lasted_at_least",
        _REPORT,
        "Share of attempts that ran at least so long, or of groups with at least so large a straggler gap.",
        "attempts with seconds >= x / attempts (the complementary cumulative distribution)",
        "share",
        HERE,
    ),
    Definition(
        "tokens_in_flight",
        _REPORT,
        "Tokens that the calls which a refit paused had generated.",
        "sum over weight_sync.calls of tokens",
        "tokens",
        HERE,
    ),
    Definition(
        "dispatches_refused",
        _REPORT,
        "Dispatches that were refused while a checkpoint was made.",
        "count(attempt_refused of the run between checkpoint_started and checkpoint_published)",
        "dispatches",
        HERE,
    ),
)
"""In the order of the page."""
