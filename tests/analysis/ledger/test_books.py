"""Every rollout is booked once, and what a stop takes is booked over."""

from __future__ import annotations

from rtrace_otel.analysis.ledger.books import Books
from rtrace_otel.analysis.ledger.step_tokens import Interval, StepColumns, StepWaste
from rtrace_otel.analysis.ledger.stops import lose
from rtrace_otel.analysis.ledger.work import Amount, Ended, Occurrence, PromptGroup, Rollout
from tests.report.history import trained


def group(*rollouts: tuple[str, Ended, int]) -> PromptGroup:
    """A group of rollouts, each with its id, how it stands, and its tokens; each ran 2 s."""
    found = PromptGroup("g", Occurrence(0, 0, 0.0, "p", None))
    for name, ended, tokens in rollouts:
        found.rollouts.append(Rollout(name, "a", name, found, ended=ended, tokens=tokens, exact=True, ran_s=2.0))
    return found


def test_a_step() -> None:
    """Sealed rollouts are trained, or masked; open ones are not booked yet."""
    books, done = Books(), group(("x", Ended.SEALED, 10), ("m", Ended.SEALED, 20), ("o", Ended.OPEN, 5))
    done.rollouts[1].masked = True
    books.trained(trained("a", 1, 0), [done])

    expected = {("trained", None): Amount(1, 10, True, 0, 2.0), ("masked", None): Amount(1, 20, True, 0, 2.0)}
    assert expected == books.accounts
    assert [StepWaste(1, "a", 10, 20, 0, 0, 0)] == list(books.steps())
    assert [("trained", None), ("masked", None), None] == [rollout.booked for rollout in done.rollouts]


def test_a_stop_takes_back() -> None:
    """What was trained and is lost does not count as trained; the step before keeps what it said."""
    books, done = Books(), group(("x", Ended.SEALED, 10), ("y", Ended.SEALED, 20), ("o", Ended.OPEN, 5))
    books.trained(trained("a", 1, 0), [done])
    books.lost([lose(done.rollouts[0]), lose(done.rollouts[2])], Amount())

    assert {("trained", None): Amount(1, 20, True, 0, 2.0)} == books.accounts
    assert [StepWaste(1, "a", 30, 0, 0, 0, 0), StepWaste(None, None, 0, 0, 0, 0, 15)] == list(books.steps())
    assert done.rollouts[0].booked is None


def test_a_stop_takes_back_what_is_forgotten() -> None:
    """Rollouts that are not remembered one by one were trained."""
    books, done = Books(), group(("x", Ended.SEALED, 10), ("y", Ended.SEALED, 20))
    books.trained(trained("a", 1, 0), [done])
    books.lost([], Amount(1, 10, True, 0, 2.0))

    assert {("trained", None): Amount(1, 20, True, 0, 2.0)} == books.accounts
    assert [StepWaste(1, "a", 30, 0, 0, 0, 0), StepWaste(None, None, 0, 0, 0, 0, 10)] == list(books.steps())


def test_late_results_and_discarded_groups() -> None:
    """Each has its reason."""
    books, done = Books(), group(("x", Ended.SEALED, 10), ("o", Ended.OPEN, 5))
    done.discarded = "stale"
    books.discarded(done)
    done.rollouts[1].ended = Ended.SEALED
    books.sealed_late(done.rollouts[1])
    late = group(("z", Ended.SEALED, 1))
    late.trained = True
    books.sealed_late(late.rollouts[0])

    assert {
        ("discarded", "stale"): Amount(2, 15, True, 0, 4.0),
        ("discarded", "sealed after its group was trained"): Amount(1, 1, True, 0, 2.0),
    } == books.accounts


def test_steps_in_columns() -> None:
    """What was put in comes out; a number is known to 63 bits, and a step without a number has none."""
    steps = StepColumns()
    steps.append(0, "a", {})
    steps.append(None, "b", {("lost", None): 10**30, ("trained", None): -5})
    masked, timeout, discarded, lost = ("masked", None), ("abandoned", "timeout"), ("discarded", None), ("lost", None)
    tokens = {("trained", None): 1, masked: 2, timeout: 2, ("abandoned", "error"): 1, discarded: 4, lost: 5}
    steps.append(3, "a", tokens)

    assert [
        StepWaste(0, "a", 0, 0, 0, 0, 0),
        StepWaste(None, "b", -5, 0, 0, 0, 2**63 - 1),
        StepWaste(3, "a", 1, 2, 3, 4, 5),
    ] == list(steps)
    assert [0, 2**63 - 6, 15] == [step.tokens for step in steps]
    assert [
        Interval(0, {}),
        Interval(None, {("trained", None): -5, ("lost", None): 2**63 - 1}),
        Interval(3, tokens),
    ] == list(steps.intervals())
