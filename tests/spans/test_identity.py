"""Ids of spans: derived, never zero, never shared, always resolvable."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.spans import ids
from tests.spans.rows import History, as_read, ids_of, otlp_bytes, spans_of
from tests.spans.test_group_trace import whole_life

_text = st.text(st.characters(codec="utf-8"), max_size=20)


@given(_text, _text, _text, st.integers(0, 3))
def test_ids_fit_and_are_not_zero(run: str, group: str, attempt: str, again: int) -> None:
    """A trace id has 16 bytes, a span id 8, and none is zero."""
    traces = [ids.group_trace_id(run, group), ids.root_ids("k", run, group, again)[0]]
    spans = [ids.group_span_id(run, group, again), ids.attempt_span_id(run, group, attempt, again)]
    assert all(0 < found < 2**128 for found in traces)
    assert all(0 < found < 2**64 for found in spans)


def test_same_rows_give_the_same_bytes() -> None:
    """The same file always gives byte-identical OTLP protobuf, read or not."""
    rows = whole_life().rows
    assert otlp_bytes(rows) == otlp_bytes(rows) == otlp_bytes(read_events(as_read(rows)))


def test_host_that_seeds_random_alike_gets_other_ids() -> None:
    """Ids of two runs differ though ``random`` is in the same state."""
    found = []
    for run in ("a", "b"):
        random.seed(1)
        history = History(run)
        history.reserve()
        history.dispatch()
        history.seal()
        history.train(1, "g")
        found.append({span.span_id for span in spans_of(history)} | {span.trace_id for span in spans_of(history)})
    assert set() == found[0] & found[1]


def test_projecting_leaves_the_state_of_random_alone() -> None:
    """A seeded host draws the same numbers with and without spans."""
    random.seed(1)
    state = random.getstate()
    otlp_bytes(whole_life().rows)
    assert state == random.getstate()


def test_user_event_that_is_called_like_a_kind_shares_no_id() -> None:
    """An event named ``group`` whose number is some group's id is another span."""
    run = History()
    run.reserve("2")
    run.add("group", note="mine")
    run.train(1, "2")
    found = [ids_of(span) for span in spans_of(run)]
    assert len(found) == len(set(found))


def test_late_rows_give_no_second_span() -> None:
    """Rows that come after the end of a group or an attempt make no span with an id that was used."""
    run = whole_life()
    run.seal(tokens=1)
    run.add("attempt_refused", attempt_id="x")
    run.add("group_admitted", group_id="g")
    run.add("group_discarded", group_id="g", reason="late")
    run.train(7, "g")
    run.dispatch("x")
    run.seal("x")
    found = [span.span_id for span in spans_of(run)]
    assert len(found) == len(set(found))


def test_rows_after_the_end_of_the_run_give_no_second_span() -> None:
    """What ``run_ended`` has ended is not ended again."""
    run = History()
    run.reserve()
    run.dispatch()
    run.add("run_ended", reason="closed")
    run.add("group_discarded", group_id="g", reason="late")
    run.add("run_ended", reason="closed")
    found = [span.span_id for span in spans_of(run)]
    assert len(found) == len(set(found))


def test_same_phase_again_is_another_span() -> None:
    """A step or refit that a run has twice has two ids."""
    run = History()
    for _ in range(3):
        run.train(1)
        run.refit(1, 2)
        run.add("checkpoint_published", checkpoint_id="c", step=1)
    found = {ids_of(span) for span in spans_of(run)}
    assert 9 == len(found)
