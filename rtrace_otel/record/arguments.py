"""What the recorder makes of its arguments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME


def new_run_id() -> str:
    """Sixteen hexadecimal digits from the operating system: trainers seed ``random`` alike in every process."""
    return os.urandom(8).hex()


def file_of(path: str | os.PathLike[str]) -> Path:
    """The file that a path means, wherever the host's working folder goes later.

    The trailing slash of a folder that does not exist yet would be lost in a ``Path``.
    """
    text = os.fspath(path)
    return (Path(text, ROLLOUT_TRACE_FILENAME) if text.endswith(os.sep) else Path(text)).absolute()


def given(**fields: Any) -> dict[str, Any]:
    """The fields that are not ``None``."""
    return {name: value for name, value in fields.items() if value is not None}


def copied(value: Any) -> Any:
    """A shallow copy of a list or dict, so that a later change by the caller does not change the row."""
    try:
        if isinstance(value, list):
            return list(value)
        return dict(value) if isinstance(value, dict) else value
    except Exception:  # a subclass may do anything: the worker writes what it is
        return value


def clamp(seconds: float, most: float) -> float:
    """Between 0 and ``most``."""
    return min(max(seconds, 0.0), most)
