"""The groups that steps train on: what was published of each, and what its calls say once the refits are known."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rtrace_otel.analysis.age.batch_age import clean_counts
from rtrace_otel.analysis.age.refit_cuts import RefitCuts, Segment, record_refit, split_at, well_formed
from rtrace_otel.analysis.age.versions import NOTHING, Mark, VersionsInForce
from rtrace_otel.events import Row

MAX_CALLS: Final = 65_536
"""Calls with cuts that wait for their group, at most: far more than run at once, so what is dropped was abandoned."""

MAX_REFITS: Final = 1_024
"""Refits after its last cut through which such a call is kept: no group waits for so long."""


@dataclass(frozen=True, slots=True)
class Published:
    """A publication as its row gives it.

    Attributes:
        run: The run that published the group.
        counts: Its tokens by version, if the row has them.
        calls: Its calls that are well formed: id, version at the begin, tokens.
        unknown_tokens: Tokens of the calls whose begin version is no version.
        mark: The run's version in force at that moment.
    """

    run: str
    counts: Mapping[int, int] | None
    calls: tuple[Sequence[Any], ...]
    unknown_tokens: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class TrainedGroup:
    """A group when it settles, its calls split at the refits of all runs.

    Attributes:
        run: The run that published it.
        counts: The tokens by version that it published.
        recomputed: Tokens by version of its calls; ``None`` if the file does not name them.
        cut_tokens: Tokens of calls that a refit cut.
        lost_cuts: Runs whose cuts the publishing run did not have, one entry per call.
        published_at: Version in force when it was published, and its place.
        last_sum: Sum over its calls of tokens times the version of the call's last token.
        calls: Calls with tokens.
        oldest_sum: Sum over these of the oldest version in each.
        newest_sum: Sum over these of the newest version in each.
        unknown_begin_tokens: Tokens of the calls whose begin version is no version.
    """

    run: str
    counts: Mapping[int, int] | None
    recomputed: Mapping[int, int] | None
    cut_tokens: int = 0
    lost_cuts: tuple[str, ...] = ()
    published_at: Mark = NOTHING
    last_sum: int = 0
    calls: int = 0
    oldest_sum: int = 0
    newest_sum: int = 0
    unknown_begin_tokens: int = 0

    @property
    def best(self) -> Mapping[int, int]:
        """Tokens by version, from the calls if the file names them."""
        return self.recomputed if self.recomputed is not None else self.counts or {}

    @property
    def unknown_tokens(self) -> int:
        """Trained tokens whose version the file does not have; published counts have them all."""
        return 0 if self.recomputed is None and self.counts else self.unknown_begin_tokens


WatchGroup: TypeAlias = Callable[[str, Published, TrainedGroup, RefitCuts], None]
"""Called with a group's id when it settles: as it was published, as its calls tell, and the cuts of these."""


class GroupBook:
    """Keeps what was published until it is trained or discarded.

    Args:
        versions: The versions in force, kept up to date by the owner.
        max_groups: How many groups to remember that were trained or discarded, the latest ones.
        watch: Called with each group that settles, before its cuts are released.

    Attributes:
        watchers: All who are called so.
    """

    def __init__(self, versions: VersionsInForce, *, max_groups: int, watch: WatchGroup | None = None) -> None:
        """Begin with no group."""
        self.watchers = [] if watch is None else [watch]
        self._max_groups = max_groups
        self._versions = versions
        self._cuts = RefitCuts(max_calls=MAX_CALLS, max_refits=MAX_REFITS)
        self._untrained: dict[str, Published] = {}
        self._groups: OrderedDict[str, TrainedGroup] = OrderedDict()

    def refitted(self, row: Row) -> None:
        """Take a ``weight_sync`` row."""
        record_refit(self._cuts, row)

    def publish(self, row: Row) -> None:
        """Take a ``group_published`` or ``group_sealed`` row."""
        group_id, run = str(row.get("group_id")), str(row.get("run", ""))
        named = row.get("call_versions")
        calls = well_formed(named, 3)
        unknown = _unknown_tokens(named) if isinstance(named, (list, tuple)) and len(calls) < len(named) else 0
        counts = clean_counts(row.get("tokens_by_version"))
        if counts is None and not calls:
            before = self._untrained.get(group_id) or self._groups.get(group_id)
            if before is not None and before.run == run:
                return
            if before is not None and row.get("event") == "group_published":
                self._untrained.pop(group_id, None)
                self._groups.pop(group_id, None)
            if not unknown:
                return
        self._groups.pop(group_id, None)
        self._untrained[group_id] = Published(run, counts, calls, unknown, self._versions.now(run))

    def settle(self, group_id: str) -> TrainedGroup | None:
        """A group that is trained or discarded; its calls are split only now: a refit can follow the publication."""
        published = self._untrained.pop(group_id, None)
        if published is not None:
            settled = self._groups[group_id] = self._split(published)
            for watch in self.watchers:
                watch(group_id, published, settled, self._cuts)
            if len(self._groups) > self._max_groups:
                self._groups.popitem(last=False)
            for call in published.calls:
                self._cuts.release(str(call[0]))
        return self._groups.get(group_id)

    def _split(self, group: Published) -> TrainedGroup:
        if not group.calls:
            return TrainedGroup(group.run, group.counts, None, unknown_begin_tokens=group.unknown_tokens)
        sums = _Sums({})
        whole: dict[int, tuple[int, int]] = {}
        lost: list[str] = []
        for call_id, begin, tokens in ((str(call[0]), call[1], call[2]) for call in group.calls):
            cuts = self._cuts.cuts_of(call_id)
            if cuts:
                segments = split_at(cuts, begin, tokens)
                sums.add_cut(segments, tokens)
                own = [cut for cut in cuts if cut[3] == group.run]
                if len(own) < len(cuts) and segments != split_at(own, begin, tokens):
                    lost += [run for run in self._cuts.sources(call_id) if run != group.run][:1]
            elif tokens > 0:
                calls, before = whole.get(begin, (0, 0))
                whole[begin] = (calls + 1, before + tokens)
        sums.add_whole(whole)
        differs = sums.tokens != {version: count for version, count in (group.counts or {}).items() if count}
        return TrainedGroup(
            run=group.run,
            counts=group.counts,
            recomputed=sums.tokens,
            cut_tokens=sums.cut_tokens,
            lost_cuts=tuple(lost) if differs else (),
            published_at=self._versions.at_publication(group.run, group.mark, sums.tokens),
            last_sum=sums.last_sum,
            calls=sums.calls,
            oldest_sum=sums.oldest_sum,
            newest_sum=sums.newest_sum,
            unknown_begin_tokens=group.unknown_tokens,
        )


@dataclass(slots=True)
class _Sums:
    """The sums of :class:`TrainedGroup` while they are made."""

    tokens: dict[int, int]
    cut_tokens: int = 0
    last_sum: int = 0
    calls: int = 0
    oldest_sum: int = 0
    newest_sum: int = 0

    def add_cut(self, segments: Sequence[Segment], tokens: int) -> None:
        """A call that refits paused; they may still have left it in one piece, or without tokens."""
        if not segments:
            return
        oldest = newest = last = segments[-1][0]
        for version, count in segments:
            self.tokens[version] = self.tokens.get(version, 0) + count
            if version < oldest:
                oldest = version
            elif version > newest:
                newest = version
        self.cut_tokens += tokens if len(segments) > 1 else 0
        self.last_sum += last * tokens
        self.calls += 1
        self.oldest_sum += oldest
        self.newest_sum += newest

    def add_whole(self, whole: Mapping[int, tuple[int, int]]) -> None:
        """Calls that no refit paused, by version: how many, and their tokens."""
        for version, (calls, tokens) in whole.items():
            self.tokens[version] = self.tokens.get(version, 0) + tokens
            self.last_sum += version * tokens
            self.calls += calls
            self.oldest_sum += version * calls
            self.newest_sum += version * calls


def _unknown_tokens(calls: Sequence[Any]) -> int:
    """Tokens of the entries whose begin version is no whole number."""
    found = 0
    for entry in calls:
        whole = isinstance(entry, (list, tuple)) and len(entry) >= 3
        if whole and type(entry[1]) is not int and type(entry[2]) is int and entry[2] > 0:
            found += entry[2]
    return found
