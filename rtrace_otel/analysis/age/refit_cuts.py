"""Where running calls switched weights, and what that makes of their tokens.

An inference server that keeps running calls across a refit generates the first part of such a call with the old weights
and the rest with the new ones. ``weight_sync`` rows say how many tokens each paused call had; with these cuts a call's
tokens are counted under the versions that really made them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

from rtrace_otel.analysis.checked import MAX_INT
from rtrace_otel.events import Row

Cut: TypeAlias = tuple[int, int, int, str | None, int]
"""Tokens the call had, version replaced, version installed, who recorded it, and the number of the refit."""

Segment: TypeAlias = tuple[int, int]
"""Weight version and how many of the call's tokens it made."""

MAX_RELEASED: Final = 65_536
"""Released calls that are remembered, so that a publication which is retried gets the same answer."""


class RefitCuts:
    """Where each running captured call switched weights, until its group publishes.

    A call's tokens count under the version it began on until a refit paused it, and under the version that refit
    installed from there on. Positions are clamped to the trained tokens, and segments without tokens disappear.

    Args:
        strict_begin: What to do with a call whose begin version is older than the version that its first refit
            replaced: the call had no token when the versions between were replaced. By default its first tokens count
            under the version that it began on, as NeMo RL documents; with ``True``, under the version replaced.
        max_released: How many released calls to remember; ``None`` for all.
        max_calls: How many calls with cuts to keep whose group has not published, the latest ones; ``None`` for all.
        max_refits: Through how many refits after its last cut to keep such a call; ``None`` for ever.
    """

    def __init__(
        self,
        *,
        strict_begin: bool = False,
        max_released: int | None = MAX_RELEASED,
        max_calls: int | None = None,
        max_refits: int | None = None,
    ) -> None:
        """Begin without cuts."""
        self._strict_begin = strict_begin
        self._max_released = max_released
        self._max_calls = max_calls
        self._max_refits = max_refits
        self._refits = 0
        self._cuts: OrderedDict[str, tuple[Cut, ...]] = OrderedDict()
        self._released: OrderedDict[str, tuple[Cut, ...]] = OrderedDict()

    def __len__(self) -> int:
        """Calls with cuts whose group has not published."""
        return len(self._cuts)

    def __contains__(self, call_id: object) -> bool:
        """Whether a refit is known to have paused the call."""
        return call_id in self._cuts or call_id in self._released

    def record(
        self, replaced_version: int, new_version: int, calls: Iterable[Sequence[Any]], *, source: str | None = None
    ) -> None:
        """Record how many tokens each call had when a refit paused it.

        A refit that is tried again for the same pair of versions replaces what it recorded first, unless another refit
        came between. Equal versions (the weights that a run loads at its start) cut nothing.

        Args:
            replaced_version: Version before the refit.
            new_version: Version that it installed.
            calls: ``[call_id, tokens]`` of every call that it paused; further columns are ignored.
            source: Who records it; see :meth:`sources`.
        """
        if replaced_version == new_version:
            return
        self._refits += 1
        known, released, pair = self._cuts, self._released, (replaced_version, new_version)
        for call in calls:
            call_id = str(call[0])
            cut = (int(call[1]), replaced_version, new_version, source, self._refits)
            kept = known.pop(call_id, None) or released.pop(call_id, None)
            if kept is None:
                known[call_id] = (cut,)
            else:
                known[call_id] = (*(kept[:-1] if kept[-1][1:3] == pair else kept), cut)
        self._forget_abandoned()

    def _forget_abandoned(self) -> None:
        """Calls are in the order of their last cuts."""
        most, oldest = self._max_calls, 0 if self._max_refits is None else self._refits - self._max_refits
        while self._cuts:
            call_id, cuts = next(iter(self._cuts.items()))
            if cuts[-1][4] > oldest and (most is None or len(self._cuts) <= most):
                break
            del self._cuts[call_id]

    def forget_before(self, oldest_trainable_version: int) -> None:
        """Drop calls whose group cannot be trained any more.

        A call began on or before the version that its first refit replaced, and its group no later than the call, so
        the group is too old to train when that version is.

        Args:
            oldest_trainable_version: Oldest version whose groups the sampler still takes.
        """
        for calls in (self._cuts, self._released):
            for call_id in [c for c, cuts in calls.items() if cuts[0][1] < oldest_trainable_version]:
                del calls[call_id]

    def tokens_by_version(self, call_versions: Iterable[Sequence[Any]]) -> dict[int, int]:
        """A published group's trained tokens by the weight version that made them.

        The group's calls are released. Asking again gives the same answer, as long as they are remembered.

        Args:
            call_versions: Each trained call's id, the version it began on and the tokens it generated.

        Returns:
            Token counts by weight version, ascending.
        """
        counts: dict[int, int] = {}
        for call in call_versions:
            call_id = str(call[0])
            for version, tokens in self.segments(call_id, int(call[1]), int(call[2])):
                counts[version] = counts.get(version, 0) + tokens
            self.release(call_id)
        return dict(sorted(counts.items()))

    def segments(self, call_id: str, begin_version: int, tokens: int) -> list[Segment]:
        """A call's tokens split at its cuts, in the order in which they were generated.

        Args:
            call_id: The call.
            begin_version: Version when it began.
            tokens: Tokens that it generated and that are trained.

        Returns:
            Versions and token counts, none of them zero; their sum is ``tokens``.
        """
        cuts = self.cuts_of(call_id)
        if self._strict_begin and cuts and begin_version < cuts[0][1]:
            begin_version = cuts[0][1]
        return split_at(cuts, begin_version, tokens)

    def cuts_of(self, call_id: str) -> tuple[Cut, ...]:
        """The call's cuts, in the order in which they were recorded."""
        return self._cuts.get(call_id) or self._released.get(call_id, ())

    def sources(self, call_id: str) -> tuple[str, ...]:
        """Who recorded the call's cuts, in order, each once."""
        cuts = self.cuts_of(call_id)
        return tuple(dict.fromkeys(cut[3] for cut in cuts if cut[3] is not None))

    def release(self, call_id: str) -> None:
        """The call's group has published: remember its cuts only for as long as there is room."""
        cuts = self._cuts.pop(call_id, None)
        if cuts is None:
            return
        self._released[call_id] = cuts
        if self._max_released is not None and len(self._released) > self._max_released:
            self._released.popitem(last=False)

    def began_before_cuts(self, call_id: str, begin_version: int) -> bool:
        """Whether ``strict_begin`` would matter: the call began before the version that its first refit replaced."""
        cuts = self.cuts_of(call_id)
        return bool(cuts) and begin_version < cuts[0][1]

    def misses_a_refit(self, call_id: str) -> bool:
        """Whether the cuts do not join: a refit replaced another version than the one installed before it."""
        cuts = self.cuts_of(call_id)
        return any(before[2] != after[1] for before, after in pairwise(cuts))


def split_at(cuts: Iterable[Cut], begin_version: int, tokens: int) -> list[Segment]:
    """A call's tokens split at these cuts; see :meth:`RefitCuts.segments`."""
    version, done = begin_version, 0
    segments: list[Segment] = []
    for position, _, new_version, _, _ in cuts:
        end = min(max(position, done), tokens)
        if end > done:
            segments.append((version, end - done))
        version, done = new_version, end
    if tokens > done:
        segments.append((version, tokens - done))
    return segments


def record_refit(cuts: RefitCuts, row: Row) -> None:
    """Record a ``weight_sync`` row; a row without its versions or with malformed calls records what it can."""
    replaced, new = row.get("replaced_version"), row.get("new_version")
    if isinstance(replaced, int) and isinstance(new, int):
        run = row.get("run")
        cuts.record(replaced, new, well_formed(row.get("calls"), 2), source=run if isinstance(run, str) else None)


class _Asked:
    """Remembers the latest answer, because several analyses of one pass ask of the same row, one after the other.

    Its parts are replaced together, so that threads agree; a row that was read does not change.
    """

    def __init__(self) -> None:
        self._latest: tuple[object, int, tuple[Sequence[Any], ...]] = (None, 0, ())

    def of(self, entries: Any, columns: Literal[2, 3]) -> tuple[Sequence[Any], ...]:
        """The entries of a ``calls`` (2 columns) or ``call_versions`` (3) field whose numbers are numbers.

        The last of them, the tokens, has no more than 63 bits.
        """
        if not isinstance(entries, (list, tuple)):
            return ()
        asked, width, found = self._latest
        if asked is entries and width == columns:
            return found
        tokens = columns - 1
        found = tuple(
            [
                entry
                for entry in entries
                if isinstance(entry, (list, tuple))
                and len(entry) >= columns
                and type(entry[1]) is int
                and type(entry[tokens]) is int
                and -MAX_INT < entry[tokens] < MAX_INT
            ]
        )
        self._latest = (entries, columns, found)
        return found


well_formed: Final = _Asked().of
"""See :meth:`_Asked.of`."""


def rebuild_refit_cuts(events: Iterable[Row]) -> RefitCuts:
    """Rebuild the cuts from the ``weight_sync`` rows over all runs of a file.

    A process that was killed takes its cuts with it; the file does not.

    Args:
        events: Rows in file order.

    Returns:
        The cuts, with no call released.
    """
    cuts = RefitCuts(max_released=None)
    for row in events:
        if row.get("event") == "weight_sync":
            record_refit(cuts, row)
    return cuts
