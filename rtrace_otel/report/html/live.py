"""The report of a file that is still being written: what is new is folded in, and only parts that changed are told.

Folding a row costs the same however long the file is, and what a page is sent is as large as what changed. Finding out
what changed still takes longer for a longer file, so it is done at most once a second, and so seldom that it takes a
tenth of a processor or less; but at once when a file that was there before has been read to its end.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rtrace_otel.analysis.checked import time_of
from rtrace_otel.analysis.overview import OverviewFold
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.reading.tail import Tail
from rtrace_otel.analysis.timeline.kept import MAX_ATTEMPTS, Selection
from rtrace_otel.errors import TraceFileError
from rtrace_otel.report.document import printable
from rtrace_otel.report.html.attempt_pieces import AttemptPieces
from rtrace_otel.report.html.data import live_page_data
from rtrace_otel.report.html.page import PageData, asset, inline_json, policy_of, render_page

LEAST_S: Final = 1.0
"""Seconds between two updates, at the least."""

SHARE: Final = 0.1
"""Share of a processor that telling what the rows say may take."""

_SHOWN: Final = Selection(max_attempts=MAX_ATTEMPTS * 9 // 10, spare=MAX_ATTEMPTS // 10)
"""Attempts of the timeline: most of them stay when others come, so they need not be told again."""

_FOOTER: Final = "Shown by rtrace serve. This page follows the file, and talks to nobody but the program that shows it."


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a trace at one moment.

    Attributes:
        epoch: Who tells; versions of different tellers have nothing to do with each other.
        version: Number of the latest update; 0 before the first.
        parts: Each part of the page as JSON text, with the number of the update that changed it last.
        state: What is known of the file itself.
        data: The page.
    """

    epoch: str
    version: int = 0
    parts: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)
    data: PageData | None = None

    def since(self, epoch: str, version: int) -> str:
        """The parts that changed after an update, as one JSON text."""
        known = version if epoch == self.epoch else -1
        changed = (f"{json.dumps(name)}:{text}" for name, (number, text) in self.parts.items() if number > known)
        return f'{{"epoch":{json.dumps(self.epoch)},"version":{self.version},"parts":{{{",".join(changed)}}}}}'


class LiveReport:
    """Follows one trace.

    Args:
        path: File or folder; a gzip is read once.
        clock: Seconds that never go back.
        wall: Wall clock, in Unix seconds.
        cost: Seconds of processor that this thread has used.

    Attributes:
        rows_folded: Rows taken so far, those of a file that was replaced included.
        told: What was told last.
        given_up: Whether nothing more will be told.
    """

    def __init__(
        self,
        path: str,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        cost: Callable[[], float] = time.thread_time,
    ) -> None:
        """Look at nothing yet."""
        self._path = path
        self._clock, self._wall, self._cost = clock, wall, cost
        self._tail = Tail(path)
        self._fold = OverviewFold(selection=_SHOWN)
        self._attempts = AttemptPieces()
        self._packed, self._read_once = path.endswith(".gz"), False
        self._read = self._tail.report
        self._last_row: float | None = None
        self._changed = True
        self._caught_up = False
        self._due = -float("inf")
        self.rows_folded = 0
        self.given_up = False
        self.told = Told(secrets.token_hex(4))

    def look(self) -> bool:
        """Take what was added to the file; gives whether there is more to read at once."""
        if self._packed:
            return self._look_once()
        try:
            anew, rows = self._tail.look()
        except TraceFileError as error:
            self._say(problem=error.problem, missing=False, behind=0)
            return False
        if anew:
            self._fold, self._last_row, self._changed = OverviewFold(selection=_SHOWN), None, True
            self._caught_up = False
        self._take(rows, lambda: self._tail.line)
        self._read = self._tail.report
        state = self._tail.state
        if state.ever_read and not state.bytes_behind and not self._caught_up:
            self._caught_up, self._due = True, -float("inf")
        self._say(problem=state.problem, missing=state.missing, behind=state.bytes_behind)
        return state.bytes_behind > 0

    def update(self) -> bool:
        """Tell what the rows so far say, if there is news and it is time for it; gives whether it was told."""
        if not self._changed or self._clock() < self._due:
            return False
        begun = self._cost()
        drawn, found = self._fold.drawn(self._read)
        data = live_page_data(found, self._read, dict(self._attempts.tables(drawn, found.timeline)))
        self._changed = False
        self._tell(data)
        self._due = self._clock() + max(LEAST_S, (self._cost() - begun) * (1 / SHARE - 1))
        return True

    def give_up(self, error: Exception) -> None:
        """Tell that nothing more will be told, because of a fault of this program."""
        self.given_up = True
        self._say(problem=f"not followed any more ({type(error).__name__}: {error})", missing=False, behind=0)

    def page(self, told: Told, *, back: bool) -> tuple[str, str]:
        """A page with the script that keeps it up to date, and its Content-Security-Policy.

        Args:
            told: What it shows, after the first update.
            back: Whether there are other traces to go back to.
        """
        assert told.data is not None, "update() comes first"
        start = f"rtrace.follow({inline_json(told.epoch)}, {told.version}, {inline_json(back)});"
        scripts = [asset("assets/live.js"), start]
        page = render_page(told.data, more_scripts=scripts, connect="'self'", footer=_FOOTER)
        return page, policy_of(page)

    def _look_once(self) -> bool:
        if not self._read_once:
            self._read_once = True
            try:
                with read_events(self._path) as reader:
                    self._take(reader, lambda: reader.line)
                    self._read = reader.report
                self._say(problem=None, missing=False, behind=0)
            except TraceFileError as error:
                self._say(problem=error.problem, missing=False, behind=0)
        return False

    def _take(self, rows: Any, line: Callable[[], int]) -> None:
        for row in rows:
            self._fold.add(row, line())
            self.rows_folded += 1
            self._changed = True
            t = time_of(row)
            self._last_row = self._last_row if t is None else t

    def _say(self, *, problem: str | None, missing: bool, behind: int) -> None:
        state = {
            "rows": self._read.rows,
            "last_row": self._last_row,
            "problem": None if problem is None else printable(problem),
            "missing": missing,
            "behind": behind,
        }
        if state != {key: self.told.state.get(key) for key in state}:
            self._replace(state={**state, "now": self._wall()})

    def _tell(self, data: PageData) -> None:
        values: dict[str, Any] = {
            "title": data.title,
            "about": data.about,
            "opening": list(data.opening),
            "head": dict(data.head),
            "document": data.document,
            **{f"tables.{name}": text for name, text in data.tables.items()},
        }
        version, parts = self.told.version + 1, {}
        for name, value in values.items():
            text = json.dumps(value, separators=(",", ":"), allow_nan=False)
            before = self.told.parts.get(name)
            parts[name] = before if before is not None and before[1] == text else (version, text)
        self._replace(version=version, parts=parts, data=data)

    def _replace(self, **changes: Any) -> None:
        before = self.told
        values = {name: getattr(before, name) for name in ("epoch", "version", "parts", "state", "data")}
        self.told = Told(**{**values, **changes})
