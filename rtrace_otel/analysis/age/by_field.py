"""Batch age by the values of a field that the rows of a group carry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.analysis.recent import Recent
from rtrace_otel.events import Row

MAX_VALUES: Final = 1_000
"""Values that are told apart, in the order in which they are first trained; the rest are counted together."""

MAX_LENGTH: Final = 200
"""Characters of a value that are kept."""


class ValueKind(StrEnum):
    """What an entry stands for."""

    VALUE = "value"
    NOT_GIVEN = "not given"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class ValueAge:
    """Staleness of the groups with one value of the field.

    Attributes:
        kind: One value, the groups without the field, or the values beyond the limit together.
        value: The value as text; ``None`` unless the entry is one value.
        batch_age: Token-weighted mean, in versions; ``None`` without tokens.
        tokens: Trained tokens with an age.
        groups: Groups that steps trained on, each as often as it was trained.
        groups_with_tokens: Those of them with token data.
    """

    kind: ValueKind
    value: str | None
    batch_age: float | None
    tokens: int
    groups: int
    groups_with_tokens: int


@dataclass(frozen=True, slots=True)
class AgeBy:
    """Batch age by field.

    Attributes:
        field: Name of the field.
        values: The values with most tokens first, then the groups without the field, then the others.
    """

    field: str
    values: tuple[ValueAge, ...]

    def self_check(self, tokens: int) -> None:
        """Conservation: every token with an age is counted under one value.

        Args:
            tokens: Trained tokens with an age, over all steps.

        Raises:
            AssertionError: They are not.
        """
        assert tokens == sum(value.tokens for value in self.values), (tokens, self)


@dataclass(slots=True)
class _Share:
    tokens: int = 0
    age_sum: int = 0
    groups: int = 0
    groups_with_tokens: int = 0

    def add(self, other: _Share) -> None:
        self.tokens += other.tokens
        self.age_sum += other.age_sum
        self.groups += other.groups
        self.groups_with_tokens += other.groups_with_tokens


_Key = tuple[ValueKind, str | None]
_NOT_GIVEN: Final[_Key] = (ValueKind.NOT_GIVEN, None)
_OTHERS: Final[_Key] = (ValueKind.OTHERS, None)


class ByFold:
    """Builds an :class:`AgeBy` row by row.

    A group has the value of its latest row with the field; rows of an attempt that do not name the group are rows of
    the group that the attempt was dispatched for. Memory grows with the steps and their groups.

    Args:
        field: Name of the field.
    """

    def __init__(self, field: str) -> None:
        """Begin with no row seen."""
        self._field = field
        self._group_of: Recent[str] = Recent()
        self._values: Recent[str] = Recent()
        self._told_apart: set[str] = set()
        self._steps: dict[int, dict[_Key, _Share]] = {}

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        group_id, attempt_id = row.get("group_id"), row.get("attempt_id")
        group = None if group_id is None else str(group_id)
        if attempt_id is not None:
            attempt = str(attempt_id)
            if group is None:
                group = self._group_of.get(attempt) or self._group_of.get(str(row.get("previous_attempt_id")))
            if group is not None:
                self._group_of.put(attempt, group)
        if group is not None and row.get(self._field) is not None:
            self._values.put(group, _text(row[self._field]))

    def trained(self, step: TrainedStep) -> None:
        """Take a step when it is trained; one that is trained again replaces what it was."""
        shares: dict[_Key, _Share] = {}
        version = step.age.trained_version
        for group_id, group in zip(step.group_ids, step.settled, strict=True):
            counts = group.best if group is not None else {}
            tokens = sum(counts.values()) if version is not None else 0
            age_sum = version * tokens - sum(v * n for v, n in counts.items()) if version is not None else 0
            share = _Share(tokens, age_sum, 1, int(any(counts.values())))
            shares.setdefault(self._key(group_id), _Share()).add(share)
        self._steps[step.age.step] = shares

    def result(self) -> AgeBy:
        """The ages by value so far."""
        total: dict[_Key, _Share] = {}
        for shares in self._steps.values():
            for key, share in shares.items():
                total.setdefault(key, _Share()).add(share)
        rank = {kind: place for place, kind in enumerate(ValueKind)}
        ordered = sorted(total.items(), key=lambda item: (rank[item[0][0]], -item[1].tokens, item[0][1] or ""))
        return AgeBy(self._field, tuple(_value_age(key, share) for key, share in ordered))

    def _key(self, group_id: str) -> _Key:
        value = self._values.get(group_id)
        if value is None:
            return _NOT_GIVEN
        if value not in self._told_apart:
            if len(self._told_apart) >= MAX_VALUES:
                return _OTHERS
            self._told_apart.add(value)
        return ValueKind.VALUE, value


def _value_age(key: _Key, share: _Share) -> ValueAge:
    try:
        age = share.age_sum / share.tokens if share.tokens else None
    except OverflowError:
        age = None
    return ValueAge(key[0], key[1], age, share.tokens, share.groups, share.groups_with_tokens)


def _text(value: Any) -> str:
    """A value as text, texts as they are and all else as JSON; long ones are cut."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except (RecursionError, TypeError, ValueError):
        text = "(cannot be shown)"
    return text if len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + "..."
