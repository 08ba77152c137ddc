"""What can be saved of a line that is not one whole event: the slow path of the reader."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.dialect import is_event, is_of_two
from rtrace_otel.events import Row
from rtrace_otel.text import SURROGATES

WORK_PER_CHARACTER: Final = 8
"""Characters that failed attempts may scan, for each character of the line: it bounds the time that garbage takes."""

FREE_WORK: Final = 100_000
_DEPTH_WORK: Final = 10_000
_decoder = json.JSONDecoder()
_OUR_START: Final = re.compile(r'\{"event":')
_ANY_START: Final = re.compile(r'\{\s*"')
_VALUE_STARTS: Final = frozenset('{["-0123456789tfnNI')
_WHITESPACE: Final = " \t\r\n"


@dataclass(slots=True)
class Recovered:
    """What a damaged line holds.

    Attributes:
        rows: The events that could be read, in order.
        faults: Pairs of the kind of damage and the text at fault, clipped.
    """

    rows: list[Row] = field(default_factory=list)
    faults: list[tuple[DamageKind, str]] = field(default_factory=list)


def recover(line: bytes, *, first: bool = False, last: bool = False, rest: bool = False) -> Recovered:
    """Read what can be read of a line.

    Args:
        line: The line, with its newline if it has one.
        first: Whether it is the first of the file, where a byte order mark may stand.
        last: Whether it is the file's end without a newline, where a row may be torn or not yet complete.
        rest: Whether it is the rest of a line whose beginning was too long to keep.

    Returns:
        Rows and faults. A torn row is never completed by guessing: what is yielded was whole.
    """
    found = Recovered()
    parts = _parts_of(line, first, found.faults)
    for place, text in enumerate(parts):
        is_end = place == len(parts) - 1
        _Scan(text, found, last and is_end).run(after_torn=rest and place == 0)
    torn = any(kind is DamageKind.TORN_ROW for kind, _ in found.faults)
    if len(found.rows) > 1 or (found.rows and torn):
        found.faults.append((DamageKind.FUSED_ROWS, f"{len(found.rows)} whole rows on one line"))
    return found


def clipped(text: str, limit: int = 80) -> str:
    """A text short enough for a message, without the line's end."""
    text = text.strip(_WHITESPACE)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class _Scan:
    """One pass over a text without NUL, with a budget for attempts that fail."""

    def __init__(self, text: str, found: Recovered, last: bool) -> None:
        self._text = text
        self._found = found
        self._last = last
        self._budget = FREE_WORK + WORK_PER_CHARACTER * len(text)
        self._garbage = False

    def run(self, *, after_torn: bool) -> None:
        text, at = self._text, 0
        if after_torn:
            at = self._next_row(-1)
        while (at := _skip(text, at)) < len(text):
            value, end = self._decode(at)
            if end > at and is_event(value) and not self._has_broken_run(value):
                if is_of_two(text[at:end].encode("utf-8", "surrogatepass"), value.get("event")):
                    self._fault(DamageKind.TORN_ROW, text[at:end])
                else:
                    self._accept(value, text[at:end])
                    self._garbage = False
            elif end > at:
                self._fault(DamageKind.NOT_AN_EVENT, text[at:end])
            else:
                end = self._next_row(at)
                self._fault(self._kind_of_torn(at, end), text[at:end])
            at = end

    def _has_broken_run(self, row: Row) -> bool:
        """Whether bytes of the run's id were lost: under another id the row would be a run that never was."""
        if "\ufffd" not in str(row.get("run")):
            return False
        return any(kind is DamageKind.INVALID_UTF8 for kind, _ in self._found.faults)

    def _decode(self, at: int) -> tuple[Any, int]:
        """The JSON value that begins here and where it ends; its own start if none does."""
        if self._text[at] not in _VALUE_STARTS or self._budget <= 0:
            return None, at
        try:
            return _decoder.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            # The error counts the lines before it: cheap for each character, but again for each attempt.
            self._budget -= max(error.pos - at, 0) + 1 + error.pos // 64
        except RecursionError:
            self._budget -= _DEPTH_WORK
        except ValueError:  # a whole number with more digits than Python reads
            self._budget -= len(self._text) - at
        return None, at

    def _next_row(self, at: int) -> int:
        """Where the next whole row begins after something that is none; the end of the text if none does."""
        found = (self._first_row(start, at) for start in (_OUR_START, _ANY_START))
        return next((place for place in found if place is not None), len(self._text))

    def _first_row(self, start: re.Pattern[str], at: int) -> int | None:
        for match in start.finditer(self._text, at + 1):
            if self._budget <= 0:
                return None
            value, end = self._decode(match.start())
            if (
                end > match.start()
                and is_event(value)
                and (self._is_separator(at, match.start()) or self._stands_alone(end))
            ):
                return match.start()
        return None

    def _is_separator(self, begin: int, end: int) -> bool:
        """Whether only commas stand here: rows that somebody joined."""
        return not self._text[max(begin, 0) : end].strip(_WHITESPACE + ",;")

    def _stands_alone(self, end: int) -> bool:
        """Whether what ends here is a row of its own: one nested in a torn row is followed by more of that row."""
        following = _skip(self._text, end)
        return following == len(self._text) or self._text[following] == "{"

    def _kind_of_torn(self, at: int, end: int) -> DamageKind:
        if end < len(self._text):
            return DamageKind.TORN_ROW
        if self._text[at] != "{":
            return DamageKind.NOT_JSON
        return DamageKind.TORN_TAIL if self._last else DamageKind.TORN_ROW

    def _fault(self, kind: DamageKind, text: str) -> None:
        """Count a stretch of garbage once, however many values it can be cut into."""
        if not self._garbage:
            self._found.faults.append((kind, clipped(text)))
        self._garbage = True

    def _accept(self, row: Row, text: str) -> None:
        try:
            mended = _without_surrogates(row)
            strict = _is_strict(text)
        except RecursionError:  # deeper than what follows could handle
            self._fault(DamageKind.NOT_JSON, text)
            return
        if mended is not row:
            self._found.faults.append((DamageKind.LONE_SURROGATE, clipped(text)))
        if not strict:
            self._found.faults.append((DamageKind.NOT_STRICT_JSON, clipped(text)))
        self._found.rows.append(mended)


def _parts_of(line: bytes, first: bool, faults: list[tuple[DamageKind, str]]) -> list[str]:
    """The texts between runs of NUL: a file system puts NUL in place of data, so what stands around it is torn."""
    if first and line.startswith(b"\xef\xbb\xbf"):
        line = line[3:]
        faults.append((DamageKind.BYTE_ORDER_MARK, "at the start of the file"))
    if b"\0" in line:
        faults.append((DamageKind.NUL_BYTES, f"{line.count(0)} of them"))
    parts = [part for part in re.split(rb"\0+", line) if part.strip()]
    return [_text_of(part, faults) for part in parts]


def _text_of(part: bytes, faults: list[tuple[DamageKind, str]]) -> str:
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.append((DamageKind.INVALID_UTF8, f"byte {error.start}: {error.reason}"))
        return part.decode("utf-8", "replace")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITESPACE:
        at += 1
    return at


def _without_surrogates(row: Row) -> Row:
    text = json.dumps(row, ensure_ascii=False)
    if text.isascii() or not SURROGATES.search(text):
        return row
    mended: Row = json.loads(SURROGATES.sub("\ufffd", text))
    return mended


def _is_strict(text: str) -> bool:
    """Whether no number is a bare NaN or Infinity; one that is too large to be finite is JSON all the same."""
    found: list[str] = []
    json.loads(text, parse_constant=found.append)
    return not found
