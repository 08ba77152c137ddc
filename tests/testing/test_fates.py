"""The fate of each rollout that a stop gave up, told to the books step by step and worked out by hand."""

from __future__ import annotations

from rtrace_otel.testing.books import Books
from rtrace_otel.testing.settings import Ending, Stop
from rtrace_otel.testing.state import Attempt, Call, Generation, Group, Snapshot
from rtrace_otel.testing.truth import Fate, Truth, Work


def attempt(prompt: str, index: int = 0, tokens: int = 10, outcome: str = "sealed", seconds: float = 2.0) -> Attempt:
    """An attempt at a rollout of a prompt, with tokens that version 0 made."""
    made = Attempt(f"{prompt}/{index}", (prompt, 0, index), f"group {prompt}", "a", 0, 100.0, [tokens], 1.0)
    call = Call(f"{prompt}/{index}:0", 0, tokens, 1.0)
    call.count_to(tokens, 0)
    made.calls.append(call)
    made.outcome = "sealed" if outcome == "sealed" else "interrupted"
    made.ended_at = 100.0 + seconds if outcome == "sealed" else None
    made.seconds = seconds
    return made


def group(prompt: str, *attempts: Attempt | None, restored: bool = False) -> Group:
    """A group with these attempts; ``None`` for a generation that has none yet."""
    generations = [Generation(index, attempt=given) for index, given in enumerate(attempts)]
    return Group(f"group {prompt}", prompt, 0, 0, 0, generations, origin_run="a" if restored else None)


def snapshot(step: int = 1) -> Snapshot:
    """A checkpoint of this step; the books want nothing else of it."""
    return Snapshot(f"step-{step:04d}", "a", step, 0, 0, [], [])


class Told:
    """Books to which the stops are told; run ``a`` has begun."""

    def __init__(self) -> None:
        self.books = Books()
        self.books.run_began("a", 100.0)
        self._stopped = "a"

    def stop(self, *groups: Group, checkpoint: Snapshot | None) -> None:
        """The run is stopped with these groups untrained, and the next begins."""
        after = chr(ord(self._stopped) + 1)
        self.books.stopped(200.0, Stop(), self._stopped, checkpoint, groups)
        self.books.run_began(after, 260.0)
        self.books.loaded()
        self._stopped = after

    def close(self, ending: Ending = "clean") -> Truth:
        """The truth, which adds up but for attempts that the books were not told of."""
        return self.books.close(ending)


def fates(told: Told, stop: int = 0, ending: Ending = "clean") -> dict[str, Fate]:
    """Fate by attempt."""
    return {rollout.attempt_id: rollout.fate for rollout in told.close(ending).stops[stop].rollouts}


def test_what_a_stop_gives_up() -> None:
    """Open 5 tokens, sealed 10, trained after the checkpoint 20; trained before it 40; not dispatched: nothing."""
    told = Told()
    told.books.trained(110.0, 1, 0, [group("early", attempt("early", tokens=40))])
    told.books.trained(120.0, 2, 1, [group("late", attempt("late", tokens=20))])
    told.stop(
        group("x", attempt("x", 0, 5, "open", 1.0), attempt("x", 1), None),
        checkpoint=snapshot(1),
    )
    (stop,) = told.close().stops

    assert {"x/0", "x/1", "late/0"} == {rollout.attempt_id for rollout in stop.rollouts}
    assert Work(3, 35, 0, 5.0) == stop.given_up
    assert Work(1, 5, 0, 1.0) == stop.in_flight
    assert ((2,), (), 60.0) == (stop.steps_lost, stop.steps_trained_again, stop.dead_s)


def test_a_restart_from_nothing_gives_up_everything() -> None:
    """Without a checkpoint every step is lost; one of them is trained again."""
    told = Told()
    told.books.trained(110.0, 1, 0, [group("x", attempt("x"))])
    told.books.trained(120.0, 2, 1, [group("y", attempt("y"))])
    told.stop(checkpoint=None)
    told.books.started_anew(("x", 0, 0))
    told.books.trained(300.0, 1, 0, [group("x", attempt("x"))])
    truth = told.close()

    assert ((1, 2), (1,)) == (truth.stops[0].steps_lost, truth.stops[0].steps_trained_again)
    assert [False, False, True] == [step.survives for step in truth.steps]
    assert {"x/0": Fate.TRAINED_AGAIN, "y/0": Fate.NEVER_CAME_BACK} == fates(told)


def test_one_fate_each() -> None:
    """Kept, resumed with 6 tokens, dispatched again, whole group kept and trained, and none of these."""
    told = Told()
    kept, resumed, redone, whole, gone = (attempt(name) for name in ("kept", "resumed", "redone", "whole", "gone"))
    told.stop(*(group(given.key[0], given) for given in (kept, resumed, redone, whole, gone)), checkpoint=snapshot())
    told.books.brought_back(kept.key, Fate.REUSED, 10)
    told.books.brought_back(resumed.key, Fate.RESUMED, 6)
    told.books.started_anew(redone.key)
    told.books.trained(300.0, 2, 1, [group("whole", whole, restored=True)])

    assert {
        "kept/0": Fate.REUSED,
        "resumed/0": Fate.RESUMED,
        "redone/0": Fate.REDONE,
        "whole/0": Fate.REUSED,
        "gone/0": Fate.NEVER_CAME_BACK,
    } == fates(told)
    work = told.close().stops[0].fates
    assert Work(2, 20, 20, 4.0) == work[Fate.REUSED]
    assert Work(1, 10, 6, 2.0) == work[Fate.RESUMED]
    assert Work(1, 10, 0, 2.0) == work[Fate.REDONE]
    assert Work() == work[Fate.DISCARDED]


def test_what_has_not_come_back_is_unknown_while_more_can_come() -> None:
    """The last run was killed, or still runs."""
    told = Told()
    told.stop(group("x", attempt("x")), checkpoint=snapshot())

    assert {"x/0": Fate.UNKNOWN} == fates(told, ending="killed") == fates(told, ending="running")


def test_it_can_come_back_in_a_later_run_and_is_counted_once() -> None:
    """The second run is stopped before it gets there; the third redoes it. The second stop gave up only ``y``."""
    told = Told()
    told.stop(group("x", attempt("x")), checkpoint=snapshot())
    told.stop(group("x", None, restored=True), group("y", attempt("y")), checkpoint=snapshot())
    told.books.started_anew(("x", 0, 0))
    told.books.started_anew(("y", 0, 0))

    assert {"x/0": Fate.REDONE} == fates(told, 0)
    assert {"y/0": Fate.REDONE} == fates(told, 1)


def test_a_whole_group_that_still_waits_is_counted_once() -> None:
    """Brought back by the second run, which is stopped before it trains it; the third does."""
    told = Told()
    whole = attempt("x")
    told.stop(group("x", whole), checkpoint=snapshot())
    told.stop(group("x", whole, restored=True), checkpoint=snapshot())
    told.books.trained(300.0, 2, 1, [group("x", whole, restored=True)])

    assert ({"x/0": Fate.REUSED}, {}) == (fates(told, 0), fates(told, 1))


def test_what_came_back_can_be_given_up_again() -> None:
    """Kept by the second run, which is stopped; the third dispatches it from the start."""
    told = Told()
    kept = attempt("x")
    told.stop(group("x", kept), checkpoint=snapshot())
    told.books.brought_back(kept.key, Fate.REUSED, 10)
    told.stop(group("x", kept, restored=True), checkpoint=snapshot())
    told.books.started_anew(kept.key)

    assert ({"x/0": Fate.REUSED}, {"x/0": Fate.REDONE}) == (fates(told, 0), fates(told, 1))


def test_brought_back_for_nothing() -> None:
    """Reused, resumed and whole, then discarded as stale; redone stays redone."""
    told = Told()
    kept, resumed, redone, whole = (attempt(name) for name in ("kept", "resumed", "redone", "whole"))
    told.stop(*(group(given.key[0], given) for given in (kept, resumed, redone, whole)), checkpoint=snapshot())
    told.books.brought_back(kept.key, Fate.REUSED, 10)
    told.books.brought_back(resumed.key, Fate.RESUMED, 6)
    told.books.started_anew(redone.key)
    for given in (kept, resumed, redone, whole):
        told.books.discarded(group(given.key[0], given, restored=True), "stale")

    assert {"kept/0": Fate.DISCARDED, "resumed/0": Fate.DISCARDED, "whole/0": Fate.DISCARDED} == {
        name: fate for name, fate in fates(told).items() if name != "redone/0"
    }
    assert Fate.REDONE == fates(told)["redone/0"]
    assert Work(3, 30, 26, 6.0) == told.close().stops[0].fates[Fate.DISCARDED]


def test_kept_and_discarded_for_another_reason() -> None:
    """The result was reused, whatever then became of the group; one that waited to be dispatched was discarded."""
    told = Told()
    kept, waits = attempt("x", 0), attempt("x", 1)
    told.stop(group("x", kept, waits), checkpoint=snapshot())
    told.books.brought_back(kept.key, Fate.REUSED, 10)
    told.books.discarded(group("x", kept, None, restored=True), "server error")

    assert {"x/0": Fate.REUSED, "x/1": Fate.DISCARDED} == fates(told)


def test_discarded_unless_it_comes_back_after_all() -> None:
    """The second run discards the group before it dispatches it; the third has it from the checkpoint once more."""
    told = Told()
    told.stop(group("x", attempt("x")), checkpoint=snapshot())
    told.books.discarded(group("x", None, restored=True), "run ended")
    assert {"x/0": Fate.DISCARDED} == fates(told)
    told.stop(checkpoint=snapshot())
    told.books.started_anew(("x", 0, 0))

    assert {"x/0": Fate.REDONE} == fates(told)


def test_a_reservation_that_is_no_restore_brings_nothing_back() -> None:
    """Its prompt is reserved anew, and the run ends before it is dispatched: it never came back."""
    told = Told()
    told.stop(group("x", attempt("x")), checkpoint=snapshot())
    told.books.discarded(group("x", None), "run ended")

    assert {"x/0": Fate.NEVER_CAME_BACK} == fates(told)


def test_times_count_from_the_first_row_of_the_new_run() -> None:
    """It begins at 260; only the first of each counts; none of a train step."""
    told = Told()
    told.stop(checkpoint=snapshot())
    for now in (261.0, 262.0):
        told.books.dispatched(now)
        told.books.sealed(now + 10)
    (stop,) = told.close().stops

    assert (1.0, 11.0, None) == (stop.first_dispatch_s, stop.first_seal_s, stop.first_train_step_s)


def test_batch_age_by_hand() -> None:
    """Step 3 updates version 2. 40 tokens of version 0, 60 of version 2, masked ones not: 2 - 120/100 = 0.8."""
    told = Told()
    old, new, masked = attempt("x", 0, 40), attempt("x", 1, 60), attempt("x", 2, 500)
    new.calls[0].segments[:] = [(2, 60)]
    masked.masked = True
    told.books.opened(old)
    told.books.opened(masked)
    told.books.trained(110.0, 3, 2, [group("x", old, new, masked)])
    truth = told.close()

    assert (100, 0.8) == (truth.steps[0].tokens, truth.steps[0].batch_age)
    assert [3, None] == [given.trained_in for given in truth.attempts]


def test_a_result_discarded_as_stale_stays_discarded() -> None:
    """The second run brings back a whole group for nothing; that the third trains it comes too late for the first."""
    told = Told()
    whole = attempt("x")
    told.stop(group("x", whole), checkpoint=snapshot())
    told.books.discarded(group("x", whole, restored=True), "stale")
    told.stop(checkpoint=snapshot())
    told.books.trained(300.0, 2, 1, [group("x", whole, restored=True)])

    assert ({"x/0": Fate.DISCARDED}, {}) == (fates(told, 0), fates(told, 1))


def test_only_the_run_that_brought_it_back_can_discard_it() -> None:
    """Kept by the second run; the third dispatches it from the start, and its group is then stale."""
    told = Told()
    kept = attempt("x")
    told.stop(group("x", kept), checkpoint=snapshot())
    told.books.brought_back(kept.key, Fate.REUSED, 10)
    told.stop(group("x", kept, restored=True), checkpoint=snapshot())
    told.books.started_anew(kept.key)
    told.books.discarded(group("x", attempt("x"), restored=True), "stale")

    assert ({"x/0": Fate.REUSED}, {"x/0": Fate.REDONE}) == (fates(told, 0), fates(told, 1))
