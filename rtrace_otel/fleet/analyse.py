"""One trace of a fleet: every analysis that the fleet shows, in one pass."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import fsum
from typing import Any, Final

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.analysis.age.histogram import add_histograms, histogram_of
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.checked import name, number
from rtrace_otel.analysis.ledger.work import Amount
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.waste import Account, WasteFold, WasteReport
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from rtrace_otel.fleet.numbers import Numbers, Volume, add_volumes
from rtrace_otel.fleet.patience import said
from rtrace_otel.fleet.results import Failure, FileResult, Outcome
from rtrace_otel.fleet.sources import opened_source
from rtrace_otel.fleet.stream import Stream

MAX_FIELDS: Final = 64
"""Fields of ``run_started`` rows that are kept; a job that says more keeps the first."""

MAX_TEXT: Final = 200
"""Characters of a field's value that are kept."""

MAX_REASONS: Final = 50
"""Reasons of abandoned attempts that are counted one by one; the rest are counted together."""

COLLECT_EVERY: Final = 50_000
"""Objects between two looks for garbage in cycles while a trace is read; the default is 700."""

OTHERS: Final = "(others)"

_NOT_USERS: Final = frozenset(
    {"event", "t", "run", "seq", "schema", "pid", "host", "service", "parent_run", "weight_version", "from_spans"}
)


def analyse_file(path: str, where: str | None = None, stream: Stream | None = None) -> Outcome:
    """Read a trace; whatever goes wrong with it is its own failure, and none of the fleet's.

    Args:
        path: A path, or the address of a file that fsspec opens.
        where: Where to open it, if that is another name for it: a path that does not depend on the folder that the
            process runs in.
        stream: What is being read of it, if it is in a store.
    """
    try:
        with _tidied(), opened_source(where or path, stream) as reader:
            return analyse(reader, path)
    except TraceFileError as error:
        hint = f". {error.hint}" if error.hint else ""
        return Failure(path, f"{error.problem}{hint}")
    except Exception as error:
        return Failure(path, said(error))


@contextmanager
def _tidied() -> Iterator[None]:
    """Look for garbage in cycles once for a small trace, when it is done: rows are freed without it.

    What an analysis leaves in cycles is then still in the processor's cache; later it takes four times as long.
    """
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.collect(0)
        gc.set_threshold(*before)


def analyse(reader: EventReader, path: str) -> FileResult:
    """Analyse a trace in one pass.

    Args:
        reader: A reader that has given no row yet.
        path: What to call it.

    Raises:
        TraceFileError: It holds no event.
    """
    fold = FileFold()
    for row in reader:
        fold.add(row, reader.line)
    return fold.result(reader.report, path)


class FileFold:
    """Builds a :class:`FileResult` row by row; for memory see the analyses."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._restores = RestoreFold()
        self._waste = WasteFold(self._restores)
        self._check = CheckFold(runs=self._restores.runs, watch=self._trained)
        self._histograms: dict[int, dict[int, int]] = {}
        self._said: dict[str, str] = {}
        self._service: str | None = None
        self._host: str | None = None

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Its physical line, from 1.
        """
        self._restores.add(row)
        self._check.add(row, line)
        event = row["event"]
        if event == "train_step" or event == "weight_sync":
            self._waste.add(row)
        elif event == "run_started":
            self._start(row)

    def result(self, read: ReadReport, path: str) -> FileResult:
        """The result of the file; call it once, after the last row.

        Args:
            read: What the reader met.
            path: What to call the file.

        Raises:
            TraceFileError: It holds no event.
        """
        if not read.rows:
            empty = "" if read.damage_counts else ": it is empty"
            raise TraceFileError(path, f"no rollout event in this file{empty}", hint="Is it a rollout trace?")
        runs = self._restores.runs.result()
        started = [run.started for run in runs if run.started is not None]
        last = [run.last_row for run in runs if run.last_row is not None]
        return FileResult(
            path=path,
            service=self._service,
            host=self._host,
            fields=dict(self._said),
            started=min(started, default=None),
            last_row=max(last, default=None),
            ended_how=runs[-1].ended_how,
            numbers=self._numbers(read, len(runs)),
        )

    def _numbers(self, read: ReadReport, runs: int) -> Numbers:
        restores = self._restores.result()
        waste = self._waste.result()
        check = self._check.result(read)
        return Numbers(
            jobs=1,
            runs=runs,
            rows=read.rows,
            rows_missing=read.rows_missing,
            damages=sum(read.damage_counts.values()),
            steps=len(self._histograms),
            steps_without_age=sum(not histogram for histogram in self._histograms.values()),
            ages=add_histograms(self._histograms.values()),
            begun=waste.begun,
            attempt_s=float(waste.attempt_seconds),
            **_of_stops(restores),
            **_of_accounts(waste),
            **_of_check(check),
        )

    def _trained(self, step: TrainedStep) -> None:
        self._histograms[step.age.step] = histogram_of(step)

    def _start(self, row: Row) -> None:
        self._service = name(row.get("service")) or self._service
        self._host = name(row.get("host")) or self._host
        for key, value in _flat(row):
            if key in self._said or len(self._said) < MAX_FIELDS:
                self._said[key] = value


def _of_stops(report: RestoreReport) -> dict[str, Any]:
    dead = [stop.dead_s for stop in report.stops]
    return {
        "stops": len(report.stops),
        "dead_s": fsum(max(seconds, 0.0) for seconds in dead if seconds is not None),
        "stops_untimed": sum(seconds is None for seconds in dead),
        "steps_lost": sum(len(stop.steps_lost) for stop in report.stops),
        "fates": {fate.value: _volume(amount) for fate, amount in sorted(report.totals.items()) if amount.rollouts},
        "lost": sum((_lost(stop.lost) for stop in report.stops), Volume()),
    }


def _of_accounts(report: WasteReport) -> dict[str, Any]:
    abandoned = [account for account in report.accounts if account.name == "abandoned"]
    return {
        "accounts": add_volumes({account.name: _volume(account.amount)} for account in report.accounts),
        "abandoned": add_volumes(
            {_reason(account) if place < MAX_REASONS else OTHERS: _volume(account.amount)}
            for place, account in enumerate(abandoned)
        ),
    }


def _of_check(report: CheckReport) -> dict[str, Any]:
    severities: dict[str, int] = {}
    for by_severity in report.counts.values():
        for severity, found in by_severity.items():
            severities[severity.value] = severities.get(severity.value, 0) + found
    codes = {code: sum(by_severity.values()) for code, by_severity in sorted(report.counts.items())}
    return {"findings": dict(sorted(severities.items())), "codes": codes}


def _reason(account: Account) -> str:
    return "(no reason)" if account.reason is None else account.reason


def _volume(amount: Amount) -> Volume:
    return Volume(amount.rollouts, amount.tokens, amount.tokens_exact)


def _lost(amount: Amount) -> Volume:
    return Volume(amount.rollouts, amount.tokens_lost, amount.tokens_exact)


def _flat(row: Row) -> Iterable[tuple[str, str]]:
    """The fields that a user may have chosen, of the row and of its ``config``, as text."""
    config = row.get("config")
    own = {key: value for key, value in row.items() if key not in _NOT_USERS and key != "config"}
    inner = config if isinstance(config, Mapping) else {}
    for key, value in (*own.items(), *((f"config.{key}", value) for key, value in inner.items())):
        known = value if isinstance(value, (str, bool)) else number(value)
        if known is not None and len(str(key)) <= MAX_TEXT:
            yield str(key), str(value)[:MAX_TEXT]
