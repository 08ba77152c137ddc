"""Rules of model calls: the parts that refits cut them into add up to their tokens, and to those of their group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final

from rtrace_otel.analysis.age.refit_cuts import RefitCuts, well_formed
from rtrace_otel.analysis.age.trained_groups import Published, TrainedGroup
from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Place
from rtrace_otel.analysis.check.values import MAX_WHOLE, named
from rtrace_otel.events import Row

_BEYOND: Final = "had more tokens at a refit than were published of {it}"
_FEWER: Final = "had fewer tokens at a later refit"


class CallRules:
    """Holds each publication against the cuts of its calls, once its group is trained or discarded.

    Memory holds where the groups that wait for that were published.

    Args:
        findings: Takes RT303 to RT307.
    """

    def __init__(self, findings: Findings) -> None:
        """Begin without publications."""
        self._findings = findings
        self._published: dict[str, Place] = {}

    def refit(self, row: Row, place: Place) -> None:
        """A refit paused calls."""
        calls = well_formed(row.get("calls"), 2)
        if calls and min(map(itemgetter(1), calls)) < 0:
            call = next(call for call in calls if call[1] < 0)
            self._findings.report("RT307", place, f"A refit says that {_too_few(call[0], call[1])}.")

    def publish(self, row: Row, place: Place) -> None:
        """A group's calls and tokens are known."""
        calls = well_formed(row.get("call_versions"), 3)
        group_id = str(row.get("group_id"))
        if not calls:
            return
        self._published[group_id] = place
        shown = named(group_id)
        if min(map(itemgetter(2), calls)) < 0:
            call = next(call for call in calls if call[2] < 0)
            text = f"In the publication of group {shown}, {_too_few(call[0], call[2])}."
            self._findings.report("RT307", place, text)
        call_ids = list(map(str, map(itemgetter(0), calls)))
        if len(set(call_ids)) < len(call_ids):
            twice = named(_twice(call_ids))
            self._findings.report("RT306", place, f"Group {shown} lists call {twice} more than once.")

    def settle(self, group_id: str, published: Published, settled: TrainedGroup, cuts: RefitCuts) -> None:
        """A group is trained or discarded; refits whose rows come after its publication are known by now.

        Args:
            group_id: The group.
            published: Its publication.
            settled: What follows from its calls.
            cuts: The cuts of its calls, among others.
        """
        place = self._published.pop(group_id, None)
        if place is None or not published.calls:
            return
        self._check_cuts(group_id, published, cuts, place)
        counts = {version: tokens for version, tokens in (published.counts or {}).items() if tokens}
        found = settled.recomputed
        if not counts or found is None or counts == found or settled.lost_cuts:
            return
        if sum(counts.values()) == sum(found.values()) and counts != _strict(published, cuts):
            self._findings.report("RT303", place, _differs(group_id, counts, found))

    def _check_cuts(self, group_id: str, published: Published, cuts: RefitCuts, place: Place) -> None:
        """The cuts of the run that published; those of others are about an earlier state of the calls."""
        beyond: list[tuple[str, int, int]] = []
        fewer: list[tuple[str, int, int]] = []
        for call in published.calls:
            call_id, tokens = str(call[0]), call[2]
            cuts_of_call = cuts.cuts_of(call_id)
            if not cuts_of_call:
                continue
            positions = [cut[0] for cut in cuts_of_call if cut[3] == published.run]
            if positions and max(positions) > tokens:
                beyond.append((call_id, max(positions), tokens))
            if len(positions) > 1:
                fewer += [(call_id, before, after) for before, after in pairwise(positions) if after < before][:1]
        for code, what, found in (("RT304", _BEYOND, beyond), ("RT305", _FEWER, fewer)):
            if found:
                self._findings.report(code, place, _several(group_id, what, found))


def _twice(call_ids: Iterable[str]) -> str | None:
    """The first id that comes again."""
    seen: set[str] = set()
    for call_id in call_ids:
        if call_id in seen:
            return call_id
        seen.add(call_id)
    return None


def _strict(published: Published, cuts: RefitCuts) -> dict[int, int]:
    """Tokens by version as ``RefitCuts(strict_begin=True)`` has them."""
    counts: dict[int, int] = {}
    for call in published.calls:
        call_id, begin = str(call[0]), call[1]
        if cuts.began_before_cuts(call_id, begin):
            begin = cuts.cuts_of(call_id)[0][1]
        for version, tokens in cuts.segments(call_id, begin, call[2]):
            counts[version] = counts.get(version, 0) + tokens
    return counts


def _too_few(call_id: Any, tokens: int) -> str:
    return f"call {named(str(call_id))} has {_number(tokens)} tokens"


def _differs(group_id: str, counts: Mapping[int, int], found: Mapping[int, int]) -> str:
    versions = sorted(version for version in {*counts, *found} if counts.get(version, 0) != found.get(version, 0))
    first = versions[0]
    published, rebuilt = _number(counts.get(first, 0)), _number(found.get(first, 0))
    return (
        f"Group {named(group_id)} has {published} tokens of version {_number(first)}; the parts of its calls have "
        f"{rebuilt}. {len(versions):,} versions differ."
    )


def _several(group_id: str, what: str, found: list[tuple[str, int, int]]) -> str:
    call_id, before, after = found[0]
    numbers = f"{_number(before)}, then {_number(after)}"
    if len(found) == 1:
        return f"Call {named(call_id)} of group {named(group_id)} {what.format(it='it')}: {numbers}."
    many = f"{len(found):,} calls of group {named(group_id)} {what.format(it='them')}"
    return f"{many}; the first is call {named(call_id)}: {numbers}."


def _number(value: int) -> str:
    """A number as a message repeats it: no row can hold a real count of so many digits."""
    if abs(value) < MAX_WHOLE:
        return f"{value:,}"
    return "10^15 or more" if value > 0 else "-10^15 or less"
