"""Rules of prompt groups: published once in a run, trained once on a timeline, and not trained unpublished."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

from rtrace_otel.analysis.age.batch_age import clean_counts
from rtrace_otel.analysis.age.refit_cuts import well_formed
from rtrace_otel.analysis.check.accounts import Accounts
from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.recent import Recent
from rtrace_otel.analysis.check.values import identities, identity, named, whole
from rtrace_otel.events import Row


class _Published(NamedTuple):
    timeline: int
    line: int
    tokens: int | None


class _Trained(NamedTuple):
    life: Life
    line: int
    step: int | None


class GroupRules:
    """Follows every group from its publication to the step that trains it.

    Settled groups are remembered up to a bound; about those further back nothing is said.

    Args:
        findings: Takes RT201 to RT203 and RT302.
        accounts: Is told of every group that is settled.
    """

    def __init__(self, findings: Findings, accounts: Accounts) -> None:
        """Begin without groups."""
        self._findings = findings
        self._accounts = accounts
        self._waiting: dict[str, _Published] = {}
        self._settled: Recent[str, _Published | None] = Recent()
        self._trained: Recent[str, _Trained] = Recent()
        self._sealed_only: dict[str, _Published] | None = {}
        """Groups that were sealed, until the first publication shows that the recorder tells the two apart."""

    def seal(self, row: Row, place: Place) -> None:
        """Every generation of a group has a result; some recorders have no other row of a publication."""
        group_id = identity(row, "group_id")
        if self._sealed_only is not None and group_id is not None:
            self._sealed_only[group_id] = self._publication(group_id, row, place)

    def publish(self, row: Row, place: Place) -> None:
        """A group can be trained on."""
        self._sealed_only = None
        group_id = identity(row, "group_id")
        if group_id is None:
            return
        before = self._waiting.get(group_id) or self._settled.get(group_id)
        if before is not None and before.timeline == place.life.timeline:
            text = f"Group {named(group_id)} was published; it was published in line {before.line:,} already."
            self._findings.report("RT202", place, text)
        self._waiting[group_id] = self._publication(group_id, row, place)

    def discard(self, row: Row, place: Place) -> None:
        """A group will not be trained on."""
        group_id = identity(row, "group_id")
        if group_id is not None:
            self._settle(group_id)
            self._accounts.discard(row, place)

    def train(self, row: Row, place: Place) -> None:
        """A step trained on groups."""
        step = whole(row.get("step"))
        for group_id in identities(row.get("group_ids")):
            self._check_once(group_id, step, place)
            published = self._settle(group_id)
            if published is None and not self._settled.dropped:
                text = f"{_step(step)} trained on group {named(group_id)}, which no row before says is published."
                self._findings.report("RT201", place, text)
            self._trained.put(group_id, _Trained(place.life, place.line, step))
            self._accounts.train(group_id, place, published.tokens if published else None)

    def _check_once(self, group_id: str, step: int | None, place: Place) -> None:
        before = self._trained.get(group_id)
        if before is not None and place.life.has_on_its_timeline(before.life, before.step):
            text = f"{_step(step)} trained on group {named(group_id)}; {_step(before.step).lower()} had trained on it"
            other = f" in run {before.life.run}" if before.life.run != place.life.run else ""
            self._findings.report(
                "RT203", place, f"{text} in line {before.line:,}{other}, before any restore undid it."
            )

    def _settle(self, group_id: str) -> _Published | None:
        """The group's latest publication, if there is one that is remembered."""
        sealed = self._sealed_only.pop(group_id, None) if self._sealed_only is not None else None
        published = self._waiting.pop(group_id, None) or sealed or self._settled.get(group_id)
        self._settled.put(group_id, published)
        return published

    def _publication(self, group_id: str, row: Row, place: Place) -> _Published:
        by_version = _sum(row.get("tokens_by_version"))
        calls = well_formed(row.get("call_versions"), 3)
        by_call = whole(sum(map(itemgetter(2), calls))) if calls else None
        if by_version is not None and by_call is not None and by_version != by_call:
            text = f"Group {named(group_id)} has {by_version:,} tokens by version, and {by_call:,} in its calls."
            self._findings.report("RT302", place, text)
        return _Published(place.life.timeline, place.line, by_version if by_version is not None else by_call)


def _sum(counts: Any) -> int | None:
    clean = clean_counts(counts)
    return whole(sum(clean.values())) if clean else None


def _step(step: int | None) -> str:
    return "A step" if step is None else f"Step {step:,}"
