"""Random histories: the cuts agree with a record of the version that made each single token."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.refit_cuts import RefitCuts

Op: TypeAlias = tuple[str, int, int]

OPS = st.lists(
    st.tuples(st.sampled_from(["begin", "generate", "generate", "finish", "refit", "refit twice"]), st.integers(0, 9),
              st.integers(0, 30)),
    max_size=40,
)  # fmt: skip


@dataclass
class Call:
    """A call, with the version that made each of its tokens."""

    name: str
    begin: int
    group_begin: int
    made_by: list[int] = field(default_factory=list)
    running: bool = True

    def truth(self, tokens: int) -> dict[int, int]:
        """The first tokens by version."""
        return dict(sorted(Counter(self.made_by[:tokens]).items()))


@dataclass
class Server:
    """An inference server that keeps running calls over refits, and the cuts that a controller records."""

    version: int
    window: int | None = None
    cuts: RefitCuts = field(default_factory=RefitCuts)
    calls: list[Call] = field(default_factory=list)

    def run(self, ops: list[Op]) -> None:
        """Live through a history."""
        for kind, which, number in ops:
            running = [call for call in self.calls if call.running]
            if kind == "begin":
                group_begin = max(self.version - which % 3, 0)
                self.calls.append(Call(f"c{len(self.calls)}", self.version, group_begin))
            elif kind.startswith("refit"):
                self._refit(running, jump=1 + which % 3, twice=kind == "refit twice", between=number)
            elif running:
                call = running[which % len(running)]
                if kind == "generate":
                    call.made_by += [self.version] * number
                else:
                    call.running = False

    def _refit(self, running: list[Call], jump: int, twice: bool, between: int) -> None:
        new = self.version + jump
        if twice:
            # The first try fails: calls go on with the old weights until the second.
            self.cuts.record(self.version, new, [[call.name, len(call.made_by)] for call in running])
            for call in running:
                call.made_by += [self.version] * between
        self.cuts.record(self.version, new, [[call.name, len(call.made_by)] for call in running])
        self.version = new
        if self.window is not None:
            self.cuts.forget_before(new - self.window)


@settings(max_examples=300, deadline=None)
@given(OPS, st.integers(0, 3), st.integers(0, 40))
def test_counts_equal_the_tokens_made_by_each_version(ops: list[Op], version: int, trimmed: int) -> None:
    """For each call, trimmed or not, and for all together, the versions are those that made the tokens."""
    server = Server(version)
    server.run(ops)
    cuts, total = server.cuts, Counter[int]()
    for call in server.calls:
        kept = max(len(call.made_by) - trimmed, 0)
        total.update(call.truth(kept))
        segments = cuts.segments(call.name, call.begin, kept)

        assert [(made_by, len(list(run))) for made_by, run in groupby(call.made_by[:kept])] == segments
        assert kept == sum(tokens for _, tokens in segments)
    group = [(call.name, call.begin, max(len(call.made_by) - trimmed, 0)) for call in server.calls]
    assert dict(sorted(total.items())) == cuts.tokens_by_version(group)
    assert dict(sorted(total.items())) == cuts.tokens_by_version(group), "asked again"


@settings(max_examples=200, deadline=None)
@given(OPS, OPS, st.integers(0, 3))
def test_a_publication_between_refits_does_not_disturb_later_ones(
    first: list[Op], then: list[Op], version: int
) -> None:
    """Calls released in the middle of a history are answered as before at its end, and the others as they ran."""
    server = Server(version)
    server.run(first)
    early = [call for call in server.calls if not call.running]
    published = [(call.name, call.begin, len(call.made_by)) for call in early]
    answer = server.cuts.tokens_by_version(published)
    server.run(then)

    assert answer == server.cuts.tokens_by_version(published)
    for call in server.calls:
        assert call.truth(len(call.made_by)) == server.cuts.tokens_by_version(
            [(call.name, call.begin, len(call.made_by))]
        )


@settings(max_examples=300, deadline=None)
@given(OPS, st.integers(0, 3), st.integers(0, 3))
def test_forgetting_never_drops_a_call_that_can_be_trained(ops: list[Op], version: int, window: int) -> None:
    """A call whose group is inside the sampler's window at the end is counted as it ran."""
    server = Server(version, window)
    server.run(ops)
    for call in server.calls:
        if call.group_begin >= server.version - window:
            found = server.cuts.tokens_by_version([(call.name, call.begin, len(call.made_by))])
            assert call.truth(len(call.made_by)) == found


@settings(max_examples=100, deadline=None)
@given(OPS, st.integers(0, 3))
def test_forgetting_bounds_what_is_kept(ops: list[Op], version: int) -> None:
    """With a window, the cuts of calls that have ended are gone once the window has passed them."""
    server = Server(version, 1)
    server.run(ops)
    server.run([("finish", 0, 0)] * len(server.calls))
    server.run([("refit", 0, 0)] * 2)

    assert 0 == len(server.cuts)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-20, 120)), max_size=8),
    st.integers(0, 5), st.integers(0, 100),
)  # fmt: skip
def test_any_cuts_at_all_conserve_the_tokens(refits: list[tuple[int, int, int]], begin: int, tokens: int) -> None:
    """Counts out of order, negative, beyond the end, or with versions that do not join: no token is lost or made up."""
    cuts = RefitCuts()
    for replaced, new, position in refits:
        cuts.record(replaced, new, [["c", position]])
    found = cuts.tokens_by_version([("c", begin, tokens)])

    assert tokens == sum(found.values())
    assert all(count > 0 for count in found.values())
    assert set(found) <= {begin, *(new for _, new, _ in refits)}
