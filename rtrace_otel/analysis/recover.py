"""What can be saved of a line that is not one whole event: the slow path of the reader."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from rtrace_otel.analysis.damage import DamageKind
from rtrace_otel.analysis.dialect import is_event
from rtrace_otel.events import Row
from rtrace_otel.text import has_surrogates, without_surrogates

MAX_ATTEMPTS: Final = 1000
"""Places of a line at which a row is looked for; it bounds the time that a line of garbage takes."""

_decoder = json.JSONDecoder()
_OBJECT_START: Final = re.compile(r'\{\s*"')
_WHITESPACE: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a damaged line holds.

    Attributes:
        rows: The events that could be read, in order.
        faults: Pairs of the kind of damage and the text at fault, clipped.
    """

    rows: list[Row]
    faults: list[tuple[DamageKind, str]]


def recover(line: bytes, *, first: bool = False, last: bool = False) -> Recovered:
    """Read what can be read of a line.

    Args:
        line: The line, with its newline if it has one.
        first: Whether it is the first of the file, where a byte order mark may stand.
        last: Whether it is the file's end without a newline, where a row may be torn or not yet complete.

    Returns:
        Rows and faults. A torn row is never completed by guessing: what is yielded was whole.
    """
    rows: list[Row] = []
    faults: list[tuple[DamageKind, str]] = []
    text = _text_of(line, first, faults)
    at = 0
    while (at := _skip(text, at)) < len(text):
        value, end = _decode_at(text, at)
        if end == at:
            end, kind = _torn(text, at, last)
            if kind is not None:
                faults.append((kind, clipped(text[at:end])))
        elif is_event(value):
            rows.append(_mended(value, text[at:end], faults))
        else:
            faults.append((DamageKind.NOT_AN_EVENT, clipped(text[at:end])))
        at = end
    if len(rows) > 1 or (rows and any(kind is DamageKind.TORN_ROW for kind, _ in faults)):
        faults.append((DamageKind.FUSED_ROWS, f"{len(rows)} whole rows on one line"))
    return Recovered(rows, faults)


def clipped(text: str, limit: int = 80) -> str:
    """A text short enough for a message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _text_of(line: bytes, first: bool, faults: list[tuple[DamageKind, str]]) -> str:
    if first and line.startswith(b"\xef\xbb\xbf"):
        line = line[3:]
        faults.append((DamageKind.BYTE_ORDER_MARK, "at the start of the file"))
    if b"\0" in line:
        faults.append((DamageKind.NUL_BYTES, f"{line.count(0)} of them"))
        line = line.replace(b"\0", b"")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.append((DamageKind.INVALID_UTF8, f"byte {error.start}: {error.reason}"))
        return line.decode("utf-8", "replace")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITESPACE:
        at += 1
    return at


def _decode_at(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins here and where it ends; its own start if none does."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at


def _torn(text: str, at: int, last: bool) -> tuple[int, DamageKind | None]:
    """Where the next whole row begins after something that is none, and what that something is."""
    for count, match in enumerate(_OBJECT_START.finditer(text, at + 1)):
        if count >= MAX_ATTEMPTS:
            break
        value, end = _decode_at(text, match.start())
        if end > match.start() and is_event(value):
            return match.start(), DamageKind.TORN_ROW
    if not text[at:].startswith("{"):
        return len(text), DamageKind.NOT_JSON
    return len(text), DamageKind.TORN_TAIL if last else DamageKind.TORN_ROW


def _mended(row: Row, text: str, faults: list[tuple[DamageKind, str]]) -> Row:
    if has_surrogates(row):
        faults.append((DamageKind.LONE_SURROGATE, clipped(text)))
        row = without_surrogates(row)
    if any(token in text for token in ("NaN", "Infinity")) and _has_bare_constant(text):
        faults.append((DamageKind.NOT_STRICT_JSON, clipped(text)))
    return row


def _has_bare_constant(text: str) -> bool:
    found: list[str] = []
    json.loads(text, parse_constant=found.append)
    return bool(found)
