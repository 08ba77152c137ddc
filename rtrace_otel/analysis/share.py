"""Rows without what names prompts, machines and places, for a report that leaves the house.

Ids of prompts, groups, attempts, calls and servers become hashes under a secret that is forgotten afterwards; an id is
hashed piece by piece between its separators, so that ids which begin with one another still do. Hosts, services,
configurations, fields and events of the user's own are dropped. Reasons and names of checkpoints keep their words, but
not what looks like a path, an address or a host.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.events import COMMON_FIELDS, EVENTS_BY_NAME, Row
from rtrace_otel.fields import FieldType

DROPPED: Final = "(not shared)"
OTHER_EVENT: Final = "(other)"
SOURCE: Final = "a trace"

SECRET_BYTES: Final = 32
"""Length of a random secret."""

_RUN_IDS: Final = frozenset({"run", "parent_run", "origin_run", "from_run"})
_RANDOM: Final = re.compile(r"[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*")
_PIECE: Final = re.compile(r"[^:./#_-]+")
_PLACE: Final = re.compile(r"\S*[/\\@]\S*|\S*\w\.[A-Za-z]\w+\S*|\d+\.\d+\.\d+\.\d+\S*|\S+:\d{2,5}\b")
_CACHED: Final = 65_536


class Sharing:
    """Takes names out of rows, the same way for the same name.

    Args:
        secret: Key of the hashes; by default a random one, which nobody can know later.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        """Begin with no host seen."""
        key = secrets.token_bytes(SECRET_BYTES) if secret is None else secret

        @lru_cache(_CACHED)
        def piece(text: str) -> str:
            return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=4).hexdigest()

        self._piece: Callable[[str], str] = piece
        self._hosts: set[str] = set()

    def row(self, row: Row) -> Row:
        """The row without names; fields and events that the vocabulary does not have are dropped."""
        event = EVENTS_BY_NAME.get(row["event"])
        host = row.get("host")
        if isinstance(host, str) and host:
            self._hosts.add(host)
        clean: Row = {"event": OTHER_EVENT if event is None else row["event"]}
        for field in (*COMMON_FIELDS[1:], *(() if event is None else event.fields)):
            if field.name in row and field.name != "service" and field.type is not FieldType.OBJECT:
                clean[field.name] = self._value(field.name, field.type, row[field.name])
        return clean

    def report(self, read: ReadReport) -> ReadReport:
        """What the reader met, without the name of the file and without the text at fault."""
        return replace(
            read,
            source=SOURCE,
            runs={str(self._run(run)): rows for run, rows in read.runs.items()},
            gaps=tuple(replace(gap, run=str(self._run(gap.run))) for gap in read.gaps),
            damages=tuple(replace(damage, detail="") for damage in read.damages),
        )

    def _value(self, name: str, kind: FieldType, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float)):
            return self._hashed(str(value)) if kind is FieldType.ID and name not in _RUN_IDS else value
        if name == "host":
            return DROPPED
        if name in _RUN_IDS:
            return self._run(value)
        if isinstance(value, str):
            if name == "checkpoint_id":
                return value if self._words(value) == value else self._piece(value)
            return self._hashed(value) if kind is FieldType.ID or name == "instance" else self._words(value)
        return self._structure(kind, value)

    def _structure(self, kind: FieldType, value: Any) -> Any:
        if kind is FieldType.TOKENS_BY_VERSION and isinstance(value, dict):
            return {key if isinstance(key, int) else DROPPED: _number(tokens) for key, tokens in value.items()}
        if kind is FieldType.IDS and isinstance(value, (list, tuple)):
            return [self._hashed(str(one)) for one in value]
        if kind in (FieldType.CALLS, FieldType.CALL_VERSIONS) and isinstance(value, (list, tuple)):
            return [self._call(call) for call in value]
        return DROPPED

    def _call(self, call: Any) -> Any:
        if not isinstance(call, (list, tuple)) or not call:
            return DROPPED
        rest = (self._hashed(one) if isinstance(one, str) else _number(one) for one in call[1:])
        return [self._hashed(str(call[0])), *rest]

    def _hashed(self, text: str) -> str:
        return _PIECE.sub(lambda found: self._piece(found[0]), text)

    def _run(self, value: Any) -> Any:
        """Random ids say nothing; others may be made of names."""
        text = str(value)
        return value if _RANDOM.fullmatch(text) else self._hashed(text)

    def _words(self, text: str) -> str:
        for host in self._hosts:
            text = text.replace(host, DROPPED)
        return _PLACE.sub(DROPPED, text)


def _number(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else DROPPED
