"""Text that UTF-8 can hold: a leaf that the recording and the reading side share."""

from __future__ import annotations

import re
from typing import Any, Final

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def has_surrogates(value: Any) -> bool:
    """Whether a JSON value holds a lone surrogate, in a string or a key."""
    if isinstance(value, str):
        return not value.isascii() and _SURROGATES.search(value) is not None
    if isinstance(value, list):
        return any(map(has_surrogates, value))
    return isinstance(value, dict) and any(has_surrogates(key) or has_surrogates(item) for key, item in value.items())


def without_surrogates(value: Any) -> Any:
    """A JSON value with each lone surrogate, which UTF-8 cannot hold, replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value
