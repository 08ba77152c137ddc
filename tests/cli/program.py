"""The installed program, run as people run it: in a pipe, with a clean environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from rtrace_otel.events import Row

RTRACE: Final = str(Path(sys.executable).with_name("rtrace"))
"""The console script of the environment that runs the tests."""

LIMIT_S: Final = 300
"""No command of these tests takes a tenth of it, on a busy machine neither."""

_DROPPED: Final = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "LC_ALL", "LANGUAGE")


@dataclass(frozen=True)
class Result:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


Run: TypeAlias = Callable[..., Result]
"""Runs ``rtrace`` with arguments in this process."""


def environment(**changes: str) -> dict[str, str]:
    """An environment in which nothing outside the test decides on colours, widths or buffering."""
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED and not key.startswith("PYTHON")}
    return {**kept, "LANG": "C.UTF-8", "TERM": "xterm-256color", **changes}


def rtrace(
    *arguments: str | bytes | Path, given: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None,
) -> Result:  # fmt: skip
    """Run ``rtrace`` with these arguments and standard input; output and errors go to pipes."""
    done = subprocess.run(
        [RTRACE, *arguments],
        check=False,
        input=given,
        capture_output=True,
        cwd=cwd,
        env=environment(**env or {}),
        timeout=LIMIT_S,
    )
    return Result(done.returncode, done.stdout.decode(errors="surrogateescape"), done.stderr.decode())


def lines(rows: Iterable[Row]) -> bytes:
    """Rows as they stand in a file."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write(folder: Path, rows: Iterable[Row], name: str = "rollout_trace.jsonl", after: bytes = b"") -> Path:
    """A trace file with these rows, and perhaps damage behind them."""
    path = folder / name
    path.write_bytes(lines(rows) + after)
    return path


def strict_json(text: str) -> Any:
    """A JSON text's value; NaN and the infinities are no JSON."""

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)
