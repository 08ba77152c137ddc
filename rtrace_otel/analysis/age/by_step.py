"""Each step's batch age from the published counts, on rows that were decoded only as far as that takes."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import msgspec

from rtrace_otel.analysis.checked import MAX_INT
from rtrace_otel.analysis.counts import clean_counts
from rtrace_otel.analysis.reading.shapes import Shape, decoder_of
from rtrace_otel.events import Row

MAX_SETTLED: Final = 8_192
"""The latest groups that were trained or discarded are remembered, so many to twice as many: a restore can train them
again."""

EVENTS: Final = frozenset({"group_published", "group_sealed", "group_discarded", "train_step"})
"""The events that decide the batch age."""

_Version: TypeAlias = Annotated[int, msgspec.Meta(gt=0, le=MAX_INT - 1)]
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1 - MAX_INT, le=MAX_INT - 1)]
_Sums: TypeAlias = tuple[Any, int, int]
"""Who published a group, its tokens, and the sum over them of the version that made each."""


class PublishedShape(Shape, tag_field="event", tag="group_published", gc=False, kw_only=True):
    """What a ``group_published`` row needs for its part of a batch age."""

    group_id: str
    # "0" and "-0" are one version, but two keys; a number of more than 63 bits is dropped by clean_counts.
    tokens_by_version: dict[_Version, _Count]


class TrainStepShape(Shape, tag_field="event", tag="train_step", gc=False, kw_only=True):
    """What a ``train_step`` row needs for a batch age."""

    step: int
    trained_version: int
    group_ids: list[str]


SHAPES: Final[msgspec.json.Decoder[PublishedShape | TrainStepShape]] = decoder_of(PublishedShape, TrainStepShape)
"""Decodes the frequent rows; others, and those that lack a field, come as dicts."""


class BatchAgeFold:
    """Each step's batch age row by row; memory grows with the steps and the groups that wait, not with the rows.

    Attributes:
        ages: Batch age in versions by step number.
    """

    def __init__(self) -> None:
        """Begin with no row seen."""
        self.ages: dict[int, float] = {}
        self._run = ""
        self._waiting: dict[str, _Sums] = {}
        self._settled: dict[str, _Sums] = {}
        self._settled_before: dict[str, _Sums] = {}

    def add(self, row: Row | PublishedShape | TrainStepShape) -> None:
        """Take the next row of the file."""
        if type(row) is PublishedShape:
            tokens = version_sum = 0
            for version, count in row.tokens_by_version.items():
                tokens += count
                version_sum += version * count
            if row.run != self._run:
                self._run = row.run  # one text for all of its groups
            self._waiting[row.group_id] = (self._run, tokens, version_sum)
        elif type(row) is TrainStepShape:
            self._train(row.step, row.trained_version, row.group_ids)
        elif isinstance(row, dict):
            event = row.get("event")
            if event == "group_published" or event == "group_sealed":
                self._publish(row, event == "group_sealed")
            else:
                self._add_any(row, event)

    def _add_any(self, row: Row, event: Any) -> None:
        if event == "train_step":
            named = row.get("group_ids")
            group_ids = [str(group_id) for group_id in named] if isinstance(named, (list, tuple)) else []
            self._train(row.get("step"), row.get("trained_version"), group_ids)
        elif event == "group_discarded":
            self._settle([str(row.get("group_id"))])

    def _publish(self, row: Row, sealed_only: bool) -> None:
        group_id, run = str(row.get("group_id")), row.get("run")
        sums = _sums_of(row.get("tokens_by_version"))
        if sums is not None:
            self._waiting[group_id] = (run, sums[0], sums[1])
        elif not sealed_only:
            before = self._waiting.get(group_id) or self._known(group_id)
            if before is not None and before[0] != run:
                # Published anew without token data: the counts of the earlier publication are not this one's.
                self._waiting[group_id] = (run, 0, 0)

    def _known(self, group_id: str) -> _Sums | None:
        """The sums of a group that was trained or discarded not long ago."""
        return self._settled.get(group_id) or self._settled_before.get(group_id)

    def _settle(self, group_ids: list[str]) -> tuple[int, int]:
        """Tokens and version sum of groups that are trained or discarded."""
        tokens = version_sum = 0
        waiting, settled = self._waiting, self._settled
        for group_id in group_ids:
            sums = waiting.pop(group_id, None)
            if sums is not None:
                settled[group_id] = sums
            else:
                sums = self._known(group_id)
            if sums is not None:
                tokens += sums[1]
                version_sum += sums[2]
        if len(settled) >= MAX_SETTLED:
            self._settled_before, self._settled = settled, {}
        return tokens, version_sum

    def _train(self, step: Any, trained_version: Any, group_ids: list[str]) -> None:
        tokens, version_sum = self._settle(group_ids)
        if type(step) is not int:
            return
        self.ages.pop(step, None)
        if type(trained_version) is int and tokens:
            try:
                self.ages[step] = trained_version - version_sum / tokens
            except OverflowError:  # no such version: a number with hundreds of digits
                return


def _sums_of(counts: Any) -> tuple[int, int] | None:
    """The tokens of counts by version, and the sum over them of the version; ``None`` if there are no counts."""
    if type(counts) is not dict:
        return _sums_of(clean) if (clean := clean_counts(counts)) is not None else None
    tokens = version_sum = 0
    for version, count in counts.items():
        if type(version) is not int or type(count) is not int or not -MAX_INT < count < MAX_INT:
            return _sums_of(clean_counts(counts))
        tokens += count
        version_sum += version * count
    return tokens, version_sum
