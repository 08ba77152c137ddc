"""Attributes in OTLP/JSON, from the bytes that hold them: what is passed over is not decoded.

A value that is odd costs itself and not the line: a number that no float holds is infinite.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rtrace_otel.spans.otlp_json import as_int, decoded
from rtrace_otel.spans.unproject import trained_by

ODD: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for JSON of another form than it expects."""


class Value(msgspec.Struct, gc=False):
    """The value of an attribute, which has one of these."""

    stringValue: str | UnsetType = UNSET  # noqa: N815 - the keys in the file, here and below
    intValue: str | int | UnsetType = UNSET  # noqa: N815
    doubleValue: float | UnsetType = UNSET  # noqa: N815
    boolValue: bool | UnsetType = UNSET  # noqa: N815
    arrayValue: _Array | UnsetType = UNSET  # noqa: N815


class _Array(msgspec.Struct, gc=False):
    values: list[Value] = []


class Entry(msgspec.Struct, gc=False):
    """An attribute."""

    key: str
    value: Value


Entries: TypeAlias = list[Entry]
"""Attributes."""


class _Text(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    stringValue: str  # noqa: N815


class _Trained(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    stringValue: Literal["trained"]  # noqa: N815


class _Kind(msgspec.Struct, gc=False):
    key: Literal["rtrace.link"]
    value: _Trained


class _Group(msgspec.Struct, gc=False):
    key: Literal["rtrace.group_id"]
    value: _Text


class _OfGroup(msgspec.Struct, gc=False, array_like=True, forbid_unknown_fields=True):
    kind: _Kind
    group: _Group


class _LinkToGroup(msgspec.Struct, gc=False):
    attributes: _OfGroup


_decode = msgspec.json.Decoder(Entries).decode
_decode_int = msgspec.json.Decoder(int, strict=False).decode
_decode_links_to_groups = msgspec.json.Decoder(list[_LinkToGroup]).decode


def attributes_in(raw: Raw, keys: Collection[str] | None = None) -> dict[str, Any]:
    """Attributes as :func:`~rtrace_otel.spans.otlp_json.decoded` gives them.

    Args:
        raw: The JSON of a list of attributes; anything else holds none.
        keys: The keys that matter; all by default.
    """
    try:
        entries = _decode(raw)
    except ODD:
        return decoded(any_in(raw))
    if keys is not None:
        entries = [entry for entry in entries if entry.key in keys]
    found = dict_of(entries)
    return found if len(found) == len(entries) else decoded(any_in(raw))


def trained_in(raw: Raw) -> list[str]:
    """The groups that a span trained, from the JSON of its list of links."""
    try:
        return [link.attributes.group.value.stringValue for link in _decode_links_to_groups(raw)]
    except ODD:  # as where a link is of another kind
        links = any_in(raw)
        of_each = links if isinstance(links, list) else ()
        return trained_by(decoded(link.get("attributes")) for link in of_each if isinstance(link, dict))


def any_in(raw: Raw) -> Any:
    """The value of a JSON text; ``None`` if Python has none."""
    try:
        return json.loads(bytes(raw))
    except (ValueError, RecursionError):
        return None


def int_in(raw: Raw) -> int:
    """A whole number as :func:`~rtrace_otel.spans.otlp_json.as_int` takes it; 0 if it is none."""
    try:
        return _decode_int(raw)
    except ODD:
        return 0


def dict_of(entries: Entries) -> dict[str, Any]:
    """Attributes as a dict; of a key that comes twice, the last."""
    return {entry.key: plain(entry.value) for entry in entries}


def plain(value: Value) -> Any:
    """The value in Python."""
    if value.stringValue is not UNSET:
        return value.stringValue
    if value.intValue is not UNSET:
        return as_int(value.intValue)
    if value.doubleValue is not UNSET:
        return value.doubleValue
    if value.boolValue is not UNSET:
        return value.boolValue
    return None if value.arrayValue is UNSET else [plain(item) for item in value.arrayValue.values]
