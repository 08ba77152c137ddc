"""Fields of a row as span attributes, and back.

Attributes have the prefix ``rtrace.``. Scalars and lists of one scalar type pass as they are. ``tokens_by_version``
becomes two arrays, because attributes do not nest. Long lists (calls, ids) become counts: a refit can name twenty
thousand calls. Anything else is JSON text under a name that ends in ``.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rtrace_otel.events import FIELD_TYPES
from rtrace_otel.fields import FieldType
from rtrace_otel.spans.model import AttributeValue
from rtrace_otel.text import without_surrogates

PREFIX: Final = "rtrace."
MAX_TEXT: Final = 4096
"""Longer texts are clipped on the wire; stores cut them anyway (Tempo at 2,048 bytes)."""

MAX_ITEMS: Final = 128
_VERSION: Final = re.compile("-?[0-9]+")
_INT64: Final = range(-(2**63), 2**63)
_COUNTED: Final = frozenset({FieldType.CALLS, FieldType.CALL_VERSIONS, FieldType.IDS})


def flatten(fields: Mapping[str, Any]) -> dict[str, AttributeValue]:
    """Attributes for the fields of a row."""
    flat: dict[str, AttributeValue] = {}
    for name, value in fields.items():
        kind = type(value)
        if value is None or name.endswith(".json"):
            flat[f"{PREFIX}{name}.json"] = _json_text(value)
        elif kind is str:
            flat[PREFIX + name] = value if value.isascii() and len(value) <= MAX_TEXT else clean_text(value)
        elif kind is int or kind is bool or kind is float:
            _put_number(flat, name, value)
        else:
            _put_other(flat, name, value)
    return flat


def unflatten(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that attributes made by :func:`flatten` carry."""
    fields: dict[str, Any] = {}
    for key, value in attributes.items():
        if not key.startswith(PREFIX):
            continue
        name = key[len(PREFIX) :]
        if "." not in name:
            fields[name] = list(value) if type(value) is tuple or type(value) is list else value
            continue
        field, _, part = name.rpartition(".")
        kind = FIELD_TYPES.get(field)
        if part == "json" and isinstance(value, str):
            fields[field] = _parsed(value)
        elif kind is FieldType.TOKENS_BY_VERSION:
            counts = attributes.get(f"{PREFIX}{field}.tokens", ())
            if part == "versions" and isinstance(value, Sequence) and isinstance(counts, Sequence):
                fields[field] = dict(zip(value, counts, strict=False))
        elif kind not in _COUNTED:
            fields[name] = list(value) if isinstance(value, (tuple, list)) else value
    return fields


def is_count(version: Any, tokens: Any) -> bool:
    """Whether an entry of ``tokens_by_version`` is a version with a number of tokens."""
    is_version = type(version) is int or (isinstance(version, str) and _VERSION.fullmatch(version) is not None)
    return is_version and type(tokens) is int and tokens in _INT64 and int(version) in _INT64


def clean_text(value: str) -> str:
    """Text that UTF-8 can hold, clipped."""
    clean: str = without_surrogates(value)
    return clean if len(clean) <= MAX_TEXT else clean[: MAX_TEXT - 3] + "..."


def bucket(number: int) -> str:
    """``0``, ``1`` or ``2+``: Jaeger searches by equality of strings only."""
    return str(number) if number < 2 else "2+"


def _put_number(flat: dict[str, AttributeValue], name: str, value: float) -> None:
    if type(value) is int and value not in _INT64:
        flat[f"{PREFIX}{name}.json"] = str(value)
    else:
        flat[PREFIX + name] = value


def _put_other(flat: dict[str, AttributeValue], name: str, value: Any) -> None:
    kind = FIELD_TYPES.get(name)
    if (
        kind is FieldType.TOKENS_BY_VERSION
        and isinstance(value, dict)
        and all(is_count(v, n) for v, n in value.items())
    ):
        flat[f"{PREFIX}{name}.versions"] = [int(version) for version in value]
        flat[f"{PREFIX}{name}.tokens"] = list(value.values())
    elif kind in _COUNTED and isinstance(value, list):
        flat[f"{PREFIX}{name}.count"] = len(value)
        if kind is not FieldType.IDS:
            tokens = [entry[-1] for entry in value if isinstance(entry, list) and entry and type(entry[-1]) is int]
            flat[f"{PREFIX}{name}.tokens_sum"] = sum(tokens)
            flat[f"{PREFIX}{name}.tokens_min"] = min(tokens, default=0)
            flat[f"{PREFIX}{name}.tokens_max"] = max(tokens, default=0)
    elif isinstance(value, list) and _is_plain_list(value):
        flat[PREFIX + name] = [clean_text(item) if type(item) is str else item for item in value]
    else:
        flat[f"{PREFIX}{name}.json"] = _json_text(value)


def _json_text(value: Any) -> str:
    text = json.dumps(without_surrogates(value), ensure_ascii=False, default=str)
    return text if len(text) <= MAX_TEXT else json.dumps(text[:200] + "...")


def _is_plain_list(value: list[Any]) -> bool:
    kinds = {type(item) for item in value}
    if not 0 < len(value) <= MAX_ITEMS or len(kinds) != 1 or not kinds <= {str, int, bool, float}:
        return False
    return kinds != {int} or all(item in _INT64 for item in value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
