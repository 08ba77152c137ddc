"""Batch age as NeMo RL defines it: token-weighted weight updates between generating a token and training on it.

The batch age of a step is ``trained_version - sum(version * tokens) / sum(tokens)`` over all its tokens, where
``trained_version`` is the version that the step updates: a batch made with it has age 0. It is never clamped, because a
negative age is a finding. Source: the documentation of ``nemo_rl.algorithms.rollout_checkpointing.trace``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rtrace_otel.analysis.age.by_step import EVENTS, SHAPES, BatchAgeFold
from rtrace_otel.analysis.age.refit_cuts import RefitCuts, record_refit, well_formed
from rtrace_otel.analysis.counts import add_up, age_of, clean_counts
from rtrace_otel.analysis.reading.narrowing import shaped
from rtrace_otel.events import Row

__all__ = [
    "BATCH_AGE_TOKENS_METRIC",
    "BATCH_AGE_VERSION_SUM_METRIC",
    "PublishedGroups",
    "add_up",
    "age_of",
    "batch_age_by_step",
    "batch_age_group_metrics",
    "clean_counts",
    "pop_batch_age",
    "recomputed_tokens_by_version",
    "tokens_by_version",
]

BATCH_AGE_TOKENS_METRIC: Final = "batch_age/trained_tokens"
"""Metric of a group: its trained tokens."""

BATCH_AGE_VERSION_SUM_METRIC: Final = "batch_age/token_version_sum"
"""Metric of a group: the sum over its trained tokens of the version that made each."""


def batch_age_group_metrics(counts: Mapping[int, int]) -> dict[str, int]:
    """A published group's share of its step's batch age, as two sums.

    Args:
        counts: Trained tokens by weight version; may be empty.

    Returns:
        ``batch_age/trained_tokens`` and ``batch_age/token_version_sum``; sums add over groups and chunks, ages do not.
    """
    return {
        BATCH_AGE_TOKENS_METRIC: sum(counts.values()),
        BATCH_AGE_VERSION_SUM_METRIC: sum(int(version) * tokens for version, tokens in counts.items()),
    }


def pop_batch_age(per_group_metrics: dict[str, list[Any]], trained_version: int) -> float | None:
    """Remove the step's batch-age sums and return its batch age, if it has tokens.

    Args:
        per_group_metrics: The step's rollout metrics, one value per group; both sums are removed from it, so that no
            later step averages them.
        trained_version: The policy version that the step updates.

    Returns:
        The batch age in versions, or ``None`` without tokens.
    """
    tokens = sum(filter(None, per_group_metrics.pop(BATCH_AGE_TOKENS_METRIC, ())))
    version_sums = per_group_metrics.pop(BATCH_AGE_VERSION_SUM_METRIC, None)
    if not tokens or version_sums is None:
        return None
    version_sum = float(sum(filter(None, version_sums)))
    return float(trained_version - version_sum / tokens)


def tokens_by_version(events: Iterable[Row]) -> dict[str, dict[int, int]]:
    """Each published group's trained tokens, by the weight version that made them.

    Args:
        events: Rows in file order.

    Returns:
        Counts by group id; of a group published twice, those of the later publication.
    """
    groups = PublishedGroups()
    for row in events:
        groups.add(row)
    return groups.counts


def recomputed_tokens_by_version(events: Iterable[Row]) -> dict[str, dict[int, int]]:
    """Each published group's trained tokens by version, split anew at the refits in the file.

    The counts that a restored controller published lack the cuts that died with the process before it; these have them.

    Args:
        events: Rows in file order, of all runs.

    Returns:
        Counts by group id; the published ones where a group's calls are not in the file.
    """
    groups = PublishedGroups()
    cuts = RefitCuts(max_released=None)
    calls: dict[str, Sequence[Sequence[Any]]] = {}
    for row in events:
        groups.add(row)
        event = row.get("event")
        if event == "weight_sync":
            record_refit(cuts, row)
        elif event == "group_published":
            calls[str(row.get("group_id"))] = well_formed(row.get("call_versions"), 3)
    # At the end, because a call can end, and its group publish, before the row of the refit that paused it.
    split = {group_id: cuts.tokens_by_version(named) for group_id, named in calls.items() if named}
    return groups.counts | split


def batch_age_by_step(events: Iterable[Row]) -> dict[int, float]:
    """Each step's token-weighted age: policy updates from generating to training.

    A group published twice counts, for each step, by the publication that precedes that step in the file.

    Args:
        events: Rows in file order.

    Returns:
        Batch age in versions by step number. A step that a resumed run trained again keeps the later run's value; if
        that run has no token data for it, the step is absent.
    """
    fold = BatchAgeFold()
    for row in shaped(events, SHAPES, EVENTS):
        fold.add(row)
    return fold.ages


class PublishedGroups:
    """The latest counts of each published group, row by row.

    Attributes:
        counts: Trained tokens by version, by group id.
    """

    def __init__(self) -> None:
        """Begin without groups."""
        self.counts: dict[str, dict[int, int]] = {}
        self._published_by: dict[str, Any] = {}

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        event = row.get("event")
        if event == "group_published" or event == "group_sealed":
            self._publish(row, event == "group_sealed")

    def counts_of(self, step: Row) -> Iterator[dict[int, int]]:
        """The counts of a step's groups, where they are known."""
        group_ids = step.get("group_ids")
        for group_id in group_ids if isinstance(group_ids, (list, tuple)) else ():
            counts = self.counts.get(str(group_id))
            if counts:
                yield counts

    def _publish(self, row: Row, sealed_only: bool) -> None:
        group_id = str(row.get("group_id"))
        counts = clean_counts(row.get("tokens_by_version"))
        if counts is not None:
            self.counts[group_id] = counts
            self._published_by[group_id] = row.get("run")
        elif not sealed_only and self._published_by.get(group_id) != row.get("run"):
            # Published anew without token data: the counts of the earlier publication are not this one's.
            self.counts.pop(group_id, None)
