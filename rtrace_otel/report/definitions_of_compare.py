"""What ``rtrace compare`` adds to the numbers of the other commands."""

from __future__ import annotations

from typing import Final

from rtrace_otel.report.definition import HERE, Definition

_COMPARE: Final = ("compare",)
_BOTH: Final = ("restore", "compare")

COMPARE_DEFINITIONS: Final = (
    Definition(
        "trained_tokens",
        _COMPARE,
        "Tokens of rollouts that were trained with effect: the account `trained` of `rtrace waste`.",
        "",
        "tokens",
        HERE,
    ),
    Definition(
        "tokens_per_s",
        _COMPARE,
        "Trained tokens by the time of the file, stops included.",
        "trained_tokens / lasted_s",
        "tokens/s",
        HERE,
    ),
    Definition(
        "batch_age_p95",
        _COMPARE,
        "Token age that 95 % of all trained tokens do not exceed, each step as it was trained last.",
        "smallest a with share(token_age <= a) >= 0.95",
        "versions",
        HERE,
    ),
    Definition(
        "trainer_waiting_share",
        _COMPARE,
        "Share of the runs' time in which the trainer waited for groups, from `rtrace steps`.",
        "waiting_s / total_s over all runs",
        "share",
        HERE,
    ),
    Definition(
        "rollouts",
        _COMPARE,
        "Rollouts in all accounts of `rtrace waste`: dispatched, resumed, or kept by a restore.",
        "begun + unseen",
        "rollouts",
        HERE,
    ),
    Definition(
        "stops",
        _COMPARE,
        "Runs that ended, killed or not, and that a later run went on from.",
        "",
        "stops",
        HERE,
    ),
    Definition(
        "in_flight_at_stops",
        _COMPARE,
        "Attempts that were open at stops, over all stops.",
        "sum of in_flight",
        "rollouts",
        HERE,
    ),
    Definition(
        "lost_rollouts",
        _BOTH,
        "Rollouts that stops cost: redone, trained again, discarded after all, or never come back.",
        "redone + trained_again + discarded + never_came_back",
        "rollouts",
        HERE,
        ("rollouts lost",),
    ),
    Definition(
        "lost_tokens",
        _BOTH,
        "Tokens of the lost rollouts, and those of resumed ones, that a restore did not keep; each stop "
        "counts by itself.",
        "sum of (tokens - tokens_kept)",
        "tokens",
        HERE,
        ("tokens lost",),
    ),
    Definition(
        "lost_tokens_share",
        _COMPARE,
        "Tokens that stops cost, as a share of all that were generated.",
        "lost_tokens / tokens of all accounts",
        "share",
        HERE,
    ),
    Definition(
        "abandoned_tokens",
        _COMPARE,
        "Tokens of abandoned attempts, over all reasons.",
        "",
        "tokens",
        HERE,
    ),
    Definition(
        "discarded_tokens",
        _COMPARE,
        "Tokens of discarded groups, over all reasons.",
        "",
        "tokens",
        HERE,
    ),
    Definition(
        "masked_tokens",
        _COMPARE,
        "Tokens of rollouts that were trained without effect.",
        "",
        "tokens",
        HERE,
    ),
    Definition(
        "wasted_share",
        _COMPARE,
        "What was generated and not trained on with effect, as a share of all tokens.",
        "(masked + abandoned + discarded + lost) / tokens of all accounts",
        "share",
        HERE,
    ),
    Definition(
        "checkpoint_s",
        _COMPARE,
        "Time from the start of checkpoints to their publication, added up.",
        "sum of checkpoint_published.seconds, else of (its t - t of checkpoint_started)",
        "s",
        HERE,
    ),
    Definition(
        "rows_missing",
        _COMPARE,
        "Rows that are missing by their sequence numbers, or by the recorder's own account (`rows_lost`). "
        "Where both tell of some, the larger number, as they can be the same rows. In `read`, those missing "
        "by sequence numbers.",
        "",
        "rows",
        HERE,
    ),
    Definition(
        "difference",
        _COMPARE,
        "By how much B is above A.",
        "B - A",
        "that of the metric",
        HERE,
    ),
    Definition(
        "relative",
        _COMPARE,
        "The difference as a share of A. Where A is 0, there is none, unless B is 0 too.",
        "(B - A) / size of A",
        "share",
        HERE,
    ),
)
"""In the order of the page."""
