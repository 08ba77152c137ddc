"""What is said of each trace of a fleet: plain values that travel between processes, machines and runs as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from rtrace_otel.analysis.runs import HowEnded
from rtrace_otel.fleet.numbers import Numbers


@dataclass(frozen=True, slots=True)
class FileResult:
    """One trace, that of one job.

    Attributes:
        path: Path or address.
        service: Service of the latest run that names one.
        host: Host of the latest run that names one.
        fields: Other fields of the runs' ``run_started`` rows, and of their ``config`` as ``config.NAME``; the latest
            value of each, as text.
        started: Time of the first row, in Unix seconds.
        last_row: Time of the last row.
        ended_how: How the latest run ended.
        numbers: What it cost and trained on.
    """

    path: str
    service: str | None
    host: str | None
    fields: Mapping[str, str]
    started: float | None
    last_row: float | None
    ended_how: HowEnded
    numbers: Numbers

    def field(self, name: str) -> str | None:
        """The value of ``service``, ``host`` or any other field; one of the config also without ``config.``."""
        if name in {"service", "host"}:
            return self.service if name == "service" else self.host
        return self.fields.get(name, self.fields.get(f"config.{name}"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A trace that could not be read.

    Attributes:
        path: Path or address.
        reason: Why.
    """

    path: str
    reason: str


Outcome = FileResult | Failure

KILLED: Final = "the process that read it was killed, and so was the one that tried again; memory may be short"
"""Reason of a failure that no process lived to tell."""


@dataclass(frozen=True, slots=True)
class _Letter:
    result: FileResult | None = None
    failure: Failure | None = None


def encode(outcome: Outcome) -> bytes:
    """An outcome as one line of JSON without its newline."""
    letter = _Letter(failure=outcome) if isinstance(outcome, Failure) else _Letter(result=outcome)
    # The standard library's encoder takes whatever damaged files hold: numbers of any size, lone surrogates.
    return json.dumps(msgspec.to_builtins(letter, str_keys=True), separators=(",", ":")).encode("ascii")


def decode(line: bytes) -> Outcome:
    """The outcome that :func:`encode` wrote.

    Raises:
        ValueError: It is something else.
    """
    letter = msgspec.convert(json.loads(line), _Letter, str_keys=True)
    outcome = letter.result if letter.result is not None else letter.failure
    if outcome is None:
        raise ValueError("neither a result nor a failure")
    return outcome
