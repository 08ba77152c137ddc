"""Batch age as NeMo RL defines it: token-weighted weight updates between generating a token and training on it.

The batch age of a step is ``trained_version - sum(version * tokens) / sum(tokens)`` over all its tokens, where
``trained_version`` is the version that the step updates: a batch made with it has age 0. It is never clamped, because a
negative age is a finding. Source: the documentation of ``nemo_rl.algorithms.rollout_checkpointing.trace``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rtrace_otel.analysis.checked import MAX_INT
from rtrace_otel.analysis.refit_cuts import RefitCuts, record_refit, well_formed
from rtrace_otel.events import Row

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


def age_of(counts: Mapping[int, int], trained_version: int) -> float | None:
    """Batch age in versions of tokens by version, or ``None`` without tokens."""
    tokens = sum(counts.values())
    if not tokens:
        return None
    try:
        return trained_version - sum(version * count for version, count in counts.items()) / tokens
    except OverflowError:  # no such version: a number with hundreds of digits
        return None


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
    calls: dict[str, list[Sequence[Any]]] = {}
    for row in events:
        groups.add(row)
        event = row.get("event")
        if event == "weight_sync":
            record_refit(cuts, row)
        elif event == "group_published":
            calls[str(row.get("group_id"))] = list(well_formed(row.get("call_versions"), 3))
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
    groups = PublishedGroups()
    ages: dict[int, float] = {}
    for row in events:
        groups.add(row)
        if row.get("event") != "train_step":
            continue
        step, version = row.get("step"), row.get("trained_version")
        if type(step) is not int:
            continue
        ages.pop(step, None)
        age = age_of(add_up(groups.counts_of(row)), version) if type(version) is int else None
        if age is not None:
            ages[step] = age
    return ages


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


def clean_counts(counts: Any) -> dict[int, int] | None:
    """A ``tokens_by_version`` field with int keys, or ``None`` if it is none; other entries are dropped.

    So are counts of more than 63 bits, which no job has.
    """
    if not isinstance(counts, Mapping):
        return None
    clean: dict[int, int] = {}
    for version, tokens in counts.items():
        try:
            key, number = int(version), int(tokens)
        except (OverflowError, TypeError, ValueError):
            continue
        if -MAX_INT < number < MAX_INT:
            clean[key] = clean.get(key, 0) + number
    return clean


def add_up(groups: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """The sum of several counts by version."""
    total: dict[int, int] = {}
    for counts in groups:
        for version, tokens in counts.items():
            total[version] = total.get(version, 0) + tokens
    return total
