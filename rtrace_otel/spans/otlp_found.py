"""What was found in a line of OTLP JSON, and what is taken of a span whose attributes are there as bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec

from rtrace_otel.spans.otlp_lines import EventShell, UnnamedShell, carried
from rtrace_otel.spans.otlp_values import attributes_in
from rtrace_otel.spans.unproject import KEYS, STEP, STEP_LINKS, CarriedSpan

MAX_DIGITS: Final = 18
"""Digits of a row's number, at most."""

VERSIONS: Final = b"rtrace.tokens_by_version"
"""How the keys of an event with versions begin."""

_RUN_BEGIN: Final = b'[{"key":"rtrace.run_id","value":{"stringValue":"'
_SEQ_BEGIN: Final = b'[{"key":"rtrace.seq","value":{"intValue":"'
_END: Final = b'"}}'


class Glance(msgspec.Struct, frozen=True, gc=False):
    """What was read of a line.

    Attributes:
        numbers: Numbers of all rows in it, by run, in no order; one that comes twice is of a row that nobody asks for.
        asked_for: The numbers of those rows that are asked for.
        items: The rows that are asked for, or a span with such rows; of its events, at least those that make these
            rows. Their resources are left out.
    """

    numbers: dict[str, list[int]] = {}
    asked_for: dict[str, list[int]] = {}
    items: list[CarriedSpan | dict[str, Any]] = []

    def has_twice(self) -> bool:
        """Whether a row that is asked for is there twice, or another row has its number."""
        for run, asked_for in self.asked_for.items():
            numbers = self.numbers[run]
            if len(set(numbers)) < len(numbers):
                times = Counter(numbers)
                if any(times[number] > 1 for number in asked_for):
                    return True
        return False


class UnclearError(Exception):
    """A span is not written as expected."""


def take(found: Glance, name: str, span: UnnamedShell, kept: AbstractSet[str], *, counted: bool) -> int:
    """Add a span to what was found.

    Args:
        found: What was found before it.
        name: Name of the span.
        span: The span.
        kept: The events that are asked for.
        counted: Whether events that name versions are needed too, because a report may call them damaged.

    Returns:
        How often its events name versions; 0 if nobody counts.

    Raises:
        UnclearError: It is not written as expected.
    """
    attributes = bytes(span.attributes)
    run = _run_of(attributes)
    if run is None:
        return 0
    needed: list[EventShell] = []
    versions = 0
    if name != STEP_LINKS:
        numbers = found.numbers.setdefault(run, [])
        for event in span.events:
            raw = bytes(event.attributes)
            numbers.append(number_in(raw))
            of_event = raw.count(VERSIONS) if counted else 0
            versions += of_event
            if event.name in kept or of_event or name == STEP:
                needed.append(event)
                found.asked_for.setdefault(run, []).append(numbers[-1])
    if needed or name == STEP_LINKS:
        found.items.append(carried(name, span, attributes_in(span.attributes, KEYS), {}, needed))
    return versions


def number_in(attributes: bytes) -> int:
    """The number of a row, from the attributes of its event.

    Raises:
        UnclearError: They do not begin with it.
    """
    if not attributes.startswith(_SEQ_BEGIN):
        raise UnclearError
    begin = len(_SEQ_BEGIN)
    digits = attributes[begin : attributes.index(b'"', begin)]
    odd = not digits.isdigit() or len(digits) > MAX_DIGITS or (digits.startswith(b"0") and digits != b"0")
    if odd or not attributes.startswith(_END, begin + len(digits)):
        raise UnclearError
    return int(digits)


def _run_of(raw: bytes) -> str | None:
    """The run of a span of ours; ``None`` if the span is not ours."""
    if not raw.startswith(_RUN_BEGIN):
        if b"rtrace.run_id" in raw or b"\\u" in raw:  # a key can have letters that are written as numbers
            raise UnclearError
        return None
    begin = len(_RUN_BEGIN)
    text = raw[begin : raw.index(b'"', begin)]
    if b"\\" in text or not raw.startswith(_END, begin + len(text)):
        raise UnclearError
    return text.decode()
