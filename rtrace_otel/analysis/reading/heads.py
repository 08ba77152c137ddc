"""Proof, without decoding them in full, that lines are whole rows: what the report needs of rows nobody asked for.

Of each line only the event, the run, the number and the time are decoded; msgspec checks the grammar of the rest. What
it does not check is checked here: the encoding, numbers too long for Python, fields that would make a line more than a
row. Lines that are not proven to be plain rows are left to the exact way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

from rtrace_otel.analysis.reading.decoding import NOT_PLAIN, decode_row
from rtrace_otel.analysis.reading.shapes import Shape
from rtrace_otel.events import EVENTS_BY_NAME

MAX_NAMES: Final = 200
"""Names of foreign events that are learnt; lines with others are read the exact way."""

_LONG_LINE: Final = 4_000
"""A line that is shorter has no number with more digits than Python reads."""

_PLAIN_VERSION: Final = r"\A(?:0|-?[1-9][0-9]{0,17})\Z"
_Versions = dict[Annotated[str, msgspec.Meta(pattern=_PLAIN_VERSION)], msgspec.Raw]


class _Head(Shape, gc=False, kw_only=True):
    tokens_by_version: _Versions | None = None


@dataclass(frozen=True, slots=True)
class Proven:
    """Lines that are one plain row each.

    Attributes:
        runs: First number and count of the rows of each run, which follow each other, by run in order of appearance.
        asked_for: Places of the rows that are asked for.
        crlf_lines: Lines that end in CR LF.
    """

    runs: dict[str, tuple[int, int]]
    asked_for: list[int]
    crlf_lines: int


class Heads:
    """Proves batches of lines.

    Args:
        events: The events that are asked for.
    """

    def __init__(self, events: Collection[str]) -> None:
        """Know the events of the vocabulary."""
        self._wanted = frozenset(events)
        self._names = dict.fromkeys(EVENTS_BY_NAME)
        self._prepare()

    def prove(self, lines: list[bytes]) -> Proven | None:
        """What stands in the lines; ``None`` if they are not proven to be plain rows, in order within each run."""
        try:
            heads: list[Any] = list(map(self._decode, lines))
        except NOT_PLAIN:
            return None
        joined = b"".join(lines)
        runs = _runs_of(heads)
        if runs is None or not _is_utf8(joined) or not _is_readable(lines):
            return None
        kinds = self._kinds
        asked_for = [place for place, head in enumerate(heads) if type(head) in kinds]
        crlf_lines = sum(line.endswith(b"\r\n") for line in lines) if b"\r" in joined else 0
        return Proven(runs, asked_for, crlf_lines)

    def learn(self, lines: Iterable[bytes]) -> None:
        """Take up the events of lines that could not be proven, beside those of the vocabulary."""
        rows = [row for row in map(decode_row, lines) if row is not None] if len(self._names) < MAX_NAMES else []
        new = [name for name in dict.fromkeys(row["event"] for row in rows) if name not in self._names]
        if new and len(self._names) < MAX_NAMES:
            self._names.update(dict.fromkeys(new[: MAX_NAMES - len(self._names)]))
            self._prepare()

    def _prepare(self) -> None:
        shapes: dict[str, Any] = {
            name: msgspec.defstruct("Head", [], bases=(_Head,), tag_field="event", tag=name, gc=False, kw_only=True)
            for name in self._names
        }
        union: Any = None
        for shape in shapes.values():
            union = shape if union is None else union | shape
        self._kinds = frozenset(shapes[name] for name in self._wanted if name in shapes)
        self._decode = msgspec.json.Decoder(union).decode


def _runs_of(heads: list[Any]) -> dict[str, tuple[int, int]] | None:
    count = len(heads)
    run, first = heads[0].run, heads[0].seq
    in_order = [head.seq for head in heads] == list(range(first, first + count))
    if in_order and [head.run for head in heads].count(run) == count:
        return {run: (first, count)}
    runs: dict[str, tuple[int, int]] = {}
    for head in heads:
        first, count = runs.get(head.run, (head.seq, 0))
        if head.seq != first + count:
            return None
        runs[head.run] = (first, count + 1)
    return runs


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_readable(lines: list[bytes]) -> bool:
    """Whether no number has more digits than Python reads."""
    if max(map(len, lines)) < _LONG_LINE:
        return True
    return all(len(line) < _LONG_LINE or decode_row(line) is not None for line in lines)
