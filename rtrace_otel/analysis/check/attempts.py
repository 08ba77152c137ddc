"""Rules of rollout attempts: each one that was dispatched ends in exactly one way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from rtrace_otel.analysis.check.accounts import Accounts, Sealed
from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.recent import Recent
from rtrace_otel.analysis.check.values import identity, named, whole
from rtrace_otel.analysis.runs import HowEnded
from rtrace_otel.events import Row

_PAST: Final = {"sealed": "was sealed", "abandoned": "was abandoned", "kept": "was kept as a sealed sibling"}


_Open: TypeAlias = tuple[Life, int, str | None, int]
"""Where it began (life and line), its group, and the tokens that a resume kept; a plain tuple is soon made."""

_Ended: TypeAlias = tuple[int, int, str]
"""Timeline, line, and how it ended."""


class AttemptRules:
    """Follows every attempt from its dispatch to its end.

    Ended attempts are remembered up to a bound; an end that comes again later than that is taken for one without a
    dispatch.

    Args:
        findings: Takes RT101 to RT107.
        accounts: Is told of every beginning and end.
    """

    def __init__(self, findings: Findings, accounts: Accounts) -> None:
        """Begin without attempts."""
        self._findings = findings
        self._accounts = accounts
        self._open: dict[tuple[str, str], _Open] = {}
        self._ended: Recent[tuple[str, str], _Ended] = Recent()

    def open_attempts(self) -> Iterator[Life]:
        """For each attempt that is open, where it began."""
        return (life for life, _, _, _ in self._open.values())

    def dispatch(self, row: Row, life: Life, line: int) -> None:
        """An attempt was sent out, for the first time or again after a refusal."""
        self._begin(row, life, line, 0)

    def resume(self, row: Row, life: Life, line: int) -> None:
        """An attempt goes on after a restore, or its result was kept."""
        if row.get("level") != "sibling":
            self._begin(row, life, line, whole(row.get("tokens_kept")) or 0)
            return
        self._accounts.keep(row, life)
        attempt_id = identity(row, "attempt_id")
        if attempt_id is not None:
            self._ended.put((life.process, attempt_id), (life.timeline, line, "kept"))

    def seal(self, row: Row, life: Life, line: int) -> None:
        """An attempt has its result."""
        attempt_id = identity(row, "attempt_id")
        if attempt_id is None:
            return
        tokens = whole(row.get("tokens"))
        attempt = self._end(attempt_id, life, line, "sealed")
        if attempt is not None:
            _, _, group_id, kept = attempt
            self._accounts.seal(attempt_id, group_id, Sealed(life, tokens, kept, row.get("masked") is True))
        else:
            self._accounts.end_unmatched(tokens)

    def abandon(self, row: Row, life: Life, line: int) -> None:
        """An attempt was given up."""
        attempt_id = identity(row, "attempt_id")
        if attempt_id is None:
            return
        tokens = whole(row.get("tokens"))
        before = self._ended_on((life.process, attempt_id), life)
        attempt = self._end(attempt_id, life, line, "abandoned")
        if attempt is not None:
            self._accounts.abandon(attempt[2], tokens)
        elif before is not None:
            self._accounts.end_unmatched(tokens)

    def finish(self, ended: Mapping[str, HowEnded]) -> None:
        """The file is over.

        Args:
            ended: How each run ended.
        """
        killed: Counter[str] = Counter()
        first: dict[str, Place] = {}
        for (_, attempt_id), (life, line, _, _) in self._open.items():
            run, place = life.run, Place(life, line)
            if ended.get(run) == "killed":
                killed[run] += 1
                first.setdefault(run, place)
            elif ended.get(run) == "clean":
                text = f"Attempt {named(attempt_id)} was dispatched here and is open, though its run ended."
                self._findings.report("RT106", place, text)
        for run, number in killed.items():
            what = "1 attempt was" if number == 1 else f"{number:,} attempts were"
            self._findings.report("RT107", first[run], f"{what} open when the run was killed; the first began here.")

    def _begin(self, row: Row, life: Life, line: int, kept: int) -> None:
        attempt_id = identity(row, "attempt_id")
        if attempt_id is None:
            return
        key = (life.process, attempt_id)
        if key in self._open or self._ended_on(key, life) is not None:
            return
        group_id = identity(row, "group_id")
        self._open[key] = (life, line, group_id, kept)
        self._accounts.begin(group_id, life)

    def _ended_on(self, key: tuple[str, str], life: Life) -> _Ended | None:
        ended = self._ended.get(key)
        return ended if ended is not None and ended[0] == life.timeline else None

    def _end(self, attempt_id: str, life: Life, line: int, how: str) -> _Open | None:
        """The attempt, if it was open; else a finding says what is wrong."""
        key = (life.process, attempt_id)
        attempt = self._open.pop(key, None)
        if attempt is not None:
            self._ended.put(key, (life.timeline, line, how))
            return attempt
        before = self._ended_on(key, life)
        if before is None:
            self._ended.put(key, (life.timeline, line, how))
        self._report_end(attempt_id, Place(life, line), how, before)
        return None

    def _report_end(self, attempt_id: str, place: Place, how: str, before: _Ended | None) -> None:
        shown = f"Attempt {named(attempt_id)} {_PAST[how]}"
        if before is None:
            code = "RT104" if how == "sealed" else "RT105"
            self._findings.report(code, place, f"{shown}, but no row before says that it began.")
            return
        _, line, how_before = before
        code = ("RT101" if how == "sealed" else "RT102") if _is_sealed(how) == _is_sealed(how_before) else "RT103"
        self._findings.report(code, place, f"{shown}; it {_PAST[how_before]} in line {line:,} already.")


def _is_sealed(how: str) -> bool:
    return how != "abandoned"
