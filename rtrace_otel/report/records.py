"""Results as records of a table."""

from __future__ import annotations

from typing import Any


def flat(result: Any) -> dict[str, Any]:
    """The fields of a dataclass with slots by name, as they are.

    ``dataclasses.asdict`` copies every value, however deep, and takes several times as long, for each step of a job.
    """
    return {name: getattr(result, name) for name in result.__slots__}
