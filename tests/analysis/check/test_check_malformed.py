"""Rows with missing fields and wrong types never stop the check, and its own counts agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.check import check_document, check_json, next_blocks
from rtrace_otel.report.formats import to_csv, to_json, to_markdown
from tests.analysis.test_summary_malformed import FIELDS, GOOD, WRONG, whole_row
from tests.report.history import event, trace


def can_be_shown(rows: list[Row]) -> bool:
    """The rows can be checked, the report agrees with itself, and every form of it can be written."""
    fold = CheckFold()
    for place, row in enumerate(rows, 1):
        fold.add(row, place)
    read = Tally("f", rows=len(rows)).report()
    report = fold.result(read)
    report.self_check()
    document = check_document(report, "f", for_terminal=True).followed_by(next_blocks(report))
    texts = (to_csv(check_document(report, "f")), to_markdown(document), to_json("check", check_json(report), {}))
    return report.rows == len(rows) and all(texts)


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field, the check goes on and its report can be written."""
    for value in WRONG:
        assert can_be_shown(trace(*GOOD, whole_row(name) | {field: value}, *GOOD)), value


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_no_missing_field_raises(name: str) -> None:
    """A row without any of its fields is a row."""
    assert can_be_shown(trace(*GOOD, event("a", name), event("b", name), *GOOD))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "b", "g", "x", "3", "sibling"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["3", "x"]), inner, max_size=2),
    max_leaves=5,
)
_ROWS = st.builds(
    lambda name, run, fields: event(run, name, **fields),
    st.sampled_from([event.name for event in EVENTS] + ["mark"]),
    st.sampled_from("ab"),
    st.dictionaries(st.sampled_from(sorted({field for _, field in FIELDS})), _JSON, max_size=8),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(_ROWS, max_size=8), _JSON, _JSON)
def test_any_rows_give_a_report(events: list[Row], t: Any, seq: Any) -> None:
    """No sequence of rows, however odd, raises, whatever stands for their time and number."""
    rows = trace(*events, *GOOD)
    rows[0]["t"], rows[0]["seq"] = t, seq

    assert can_be_shown(rows)


_SMALL = st.sampled_from(["g", "h"])
_LIKELY = st.one_of(
    st.builds(lambda run, group, n: event(run, "group_reserved", group_id=group, prompt_id="1", generations=n),
              st.sampled_from("abc"), _SMALL, st.sampled_from([None, 1, 2])),
    st.builds(lambda run, name, group: event(run, "attempt_dispatched", group_id=group, attempt_id=name, prompt_id="1",
                                             generation_index=0),
              st.sampled_from("abc"), st.sampled_from("xyz"), _SMALL),
    st.builds(lambda run, name, n, masked: event(run, "attempt_sealed", attempt_id=name, tokens=n, masked=masked),
              st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from([None, 0, 5, 9]), st.booleans()),
    st.builds(lambda run, name: event(run, "attempt_abandoned", attempt_id=name, reason="r", tokens=3),
              st.sampled_from("abc"), st.sampled_from("xyz")),
    st.builds(lambda run, name, level: event(run, "attempt_resumed", attempt_id=name, level=level, group_id="g",
                                             tokens_kept=4),
              st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from(["sibling", "turn"])),
    st.builds(lambda run, group, n: event(run, "group_published", group_id=group, tokens_by_version={1: n}),
              st.sampled_from("abc"), _SMALL, st.integers(0, 20)),
    st.builds(lambda run, step, groups: event(run, "train_step", step=step, trained_version=1, group_ids=groups),
              st.sampled_from("abc"), st.integers(1, 3), st.lists(_SMALL, max_size=2)),
    st.builds(lambda run, group: event(run, "group_discarded", group_id=group, reason="stale"),
              st.sampled_from("abc"), _SMALL),
    st.builds(lambda run, step: event(run, "checkpoint_published", checkpoint_id=f"c{step}", step=step, groups=["g"]),
              st.sampled_from("abc"), st.integers(0, 3)),
    st.builds(lambda run, step, old: event(run, "checkpoint_restored", checkpoint_id=f"c{step}", step=step,
                                           groups=["g"], from_run=old),
              st.sampled_from("abc"), st.integers(0, 3), st.sampled_from([None, "a", "b", "c"])),
    st.builds(lambda run, old: event(run, "run_started", schema=1, host="n", pid=1, parent_run=old),
              st.sampled_from("abc"), st.sampled_from([None, "a", "b", "c"])),
    st.builds(lambda run: event(run, "run_ended", reason="closed"), st.sampled_from("abc")),
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.lists(_LIKELY, max_size=40))
def test_books_are_kept_whatever_happens(events: list[Row]) -> None:
    """Every rollout has one fate: what is left over is explained by ends without an attempt, or by too many tokens."""
    fold = CheckFold()
    rows = trace(*events)
    for place, row in enumerate(rows, 1):
        fold.add(row, place)
    report = fold.result(Tally("f", rows=len(rows)).report())
    report.self_check()
    ledger = report.ledger
    assert ledger is not None

    assert -ledger.rollouts.unmatched == ledger.rollouts.residual
    assert ledger.rollouts.unmatched == sum(
        number for code in ("RT101", "RT102", "RT103", "RT104") for number in report.counts.get(code, {}).values()
    )
    too_many = "RT301" in report.counts
    assert too_many or -ledger.tokens.unmatched == ledger.tokens.residual
