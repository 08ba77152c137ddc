"""Rules of weight versions: they rise, they join, and no token is of one that was not installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from rtrace_otel.analysis.age.batch_age import clean_counts
from rtrace_otel.analysis.age.refit_cuts import well_formed
from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.values import identity, named, whole
from rtrace_otel.analysis.runs import HowEnded
from rtrace_otel.events import Row

MAX_WAITING: Final = 10_000
"""Publications of one run that may wait for the next refit's row; the oldest is judged if there are more."""


@dataclass(slots=True)
class _Refits:
    timeline: int
    last: tuple[int, int] | None = None
    running: bool = False
    says_when_it_starts: bool = False


@dataclass(frozen=True, slots=True)
class _Ahead:
    place: Place
    group_id: str
    version: int
    what: str
    installed: int


class VersionRules:
    """Follows the refits of every run.

    Args:
        findings: Takes RT401 to RT403.
    """

    def __init__(self, findings: Findings) -> None:
        """Begin with no refit seen."""
        self._findings = findings
        self._refits: dict[str, _Refits] = {}
        self._ahead: dict[str, list[_Ahead]] = {}

    def start_refit(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a row
        """A refit began."""
        refits = self._of(place.life)
        refits.running = refits.says_when_it_starts = True

    def refit(self, row: Row, place: Place) -> None:
        """A refit ended."""
        refits = self._of(place.life)
        refits.running = False
        replaced, new = whole(row.get("replaced_version")), whole(row.get("new_version"))
        if replaced is not None and new is not None:
            self._check_refit(replaced, new, refits.last, place)
            refits.last = (replaced, new)
        self._judge(place.life.run, new)

    def publish(self, row: Row, place: Place) -> None:
        """A group's tokens are known; a group may be published just before the row of the refit that it saw."""
        installed = place.life.installed
        if installed is None:
            return
        newest, what = _newest(row)
        if newest > installed:
            group_id = identity(row, "group_id")
            waiting = self._ahead.setdefault(place.life.run, [])
            waiting.append(_Ahead(place, named(group_id), newest, what, installed))
            if len(waiting) > MAX_WAITING:
                self._report(waiting.pop(0))

    def finish(self, ended: Mapping[str, HowEnded]) -> None:
        """The file is over: what no refit followed is judged, unless one may have been under way.

        Args:
            ended: How each run ended.
        """
        for run, waiting in self._ahead.items():
            refits = self._refits.get(run)
            may_run = refits is None or refits.running or not refits.says_when_it_starts
            for ahead in waiting:
                if not (may_run and ended.get(run) != "clean" and ahead.version == ahead.installed + 1):
                    self._report(ahead)

    def _of(self, life: Life) -> _Refits:
        refits = self._refits.get(life.run)
        if refits is None or refits.timeline != life.timeline:
            refits = self._refits[life.run] = _Refits(life.timeline)
        return refits

    def _check_refit(self, replaced: int, new: int, last: tuple[int, int] | None, place: Place) -> None:
        if new < replaced:
            self._findings.report("RT401", place, f"A refit replaced version {replaced:,} with version {new:,}.")
        if last is not None and replaced != last[1] and (replaced, new) != last:
            text = f"A refit replaced version {replaced:,}; version {last[1]:,} was in force since the refit before."
            self._findings.report("RT402", place, text)

    def _judge(self, run: str, installed_now: int | None) -> None:
        for ahead in self._ahead.pop(run, ()):
            if installed_now is None or ahead.version > installed_now:
                self._report(ahead)

    def _report(self, ahead: _Ahead) -> None:
        text = (
            f"Group {ahead.group_id} has {ahead.what} version {ahead.version:,}; the newest version installed so far "
            f"was {ahead.installed:,}."
        )
        self._findings.report("RT403", ahead.place, text)


def _newest(row: Row) -> tuple[int, str]:
    """The newest version that a publication names, and as what; -1 if it names none."""
    counts = clean_counts(row.get("tokens_by_version")) or {}
    tokens = max((version for version, number in counts.items() if number > 0), default=-1)
    calls = well_formed(row.get("call_versions"), 3)
    begun = max(map(itemgetter(1), calls), default=-1)
    if calls and begun > tokens:
        last = max(str(call[0]) for call in calls if call[1] == begun)
        return begun, f"call {named(last)}, which began on"
    return tokens, "tokens of"
