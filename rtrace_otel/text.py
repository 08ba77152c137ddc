"""Text that UTF-8 can hold: a leaf that the recording and the reading side share."""

from __future__ import annotations

import re
from typing import Any, Final

SURROGATES: Final = re.compile("[\ud800-\udfff]")
"""A code point that UTF-8 cannot hold."""


def without_surrogates(value: Any) -> Any:
    """A JSON value with each lone surrogate, which UTF-8 cannot hold, replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value
