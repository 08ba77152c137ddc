"""Refits and checkpoints one by one, with numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.pauses import Checkpoint, Pauses, Refit, pauses
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.rows import row
from tests.analysis.test_summary_malformed import FIELDS, WRONG, whole_row


def test_a_refit_in_full() -> None:
    """Row 3 is at 103 s. Two calls were paused, with 50 tokens and with an unknown number; it took 1.5 s."""
    sync = row(3, event="weight_sync", replaced_version=4, new_version=5, calls=[["c1", 50], ["c2"]], seconds=1.5)

    assert Pauses((Refit("a", 103.0, 1.5, 4, 5, 2, 50),), ()) == pauses([sync])


def test_a_refit_without_seconds_lasts_from_its_start() -> None:
    """From 101 s to 103 s; a start belongs to one refit of its own run only."""
    sync = row(3, event="weight_sync", replaced_version=0, new_version=1, calls=[])
    start = row(1, event="weight_sync_started")

    assert [2.0, None] == [refit.seconds for refit in pauses([start, sync, sync]).refits]
    assert [None] == [refit.seconds for refit in pauses([row(1, "b", "weight_sync_started"), sync]).refits]


def test_the_weights_that_a_run_loads_are_no_refit() -> None:
    """It reports them with the same version twice."""
    assert () == pauses([row(event="weight_sync", replaced_version=7, new_version=7)]).refits


def test_a_checkpoint_in_full() -> None:
    """Started at 100 s and published at 104 s with two groups; two dispatches were refused meanwhile, one after."""
    refused = [row(seq, event="attempt_refused", attempt_id="x") for seq in (1, 2)]
    published = row(4, event="checkpoint_published", checkpoint_id="k", step=9, groups=["g", "h"])
    rows = [row(0, event="checkpoint_started"), *refused, published, row(5, event="attempt_refused", attempt_id="x")]

    assert Pauses((), (Checkpoint("a", "k", 9, 104.0, 4.0, 2, 2),)) == pauses(rows)


def test_what_no_row_says_of_a_checkpoint_is_unknown() -> None:
    """Without a start nobody knows how long it took, nor what was refused while it was made."""
    assert (Checkpoint("a", None, None, 100.0, None, None, None),) == (
        pauses([row(event="checkpoint_published")]).checkpoints
    )


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("name", ["weight_sync", "checkpoint_published"])
def test_no_value_of_any_field_raises(name: str, value: Any) -> None:
    """Whatever stands in a field, the row is one refit or one checkpoint, unless both versions are the same."""
    for event_name, field in FIELDS:
        if event_name == name and field not in ("replaced_version", "new_version"):
            good = whole_row(name) | {"replaced_version": 1, "new_version": 2}
            found = pauses([good | {field: value, "t": value}])
            assert 1 == len(found.refits) + len(found.checkpoints)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_they_add_up_to_what_the_other_reports_say(seed: int) -> None:
    """Refits, the calls that they cut and their time as in the summary; checkpoints as in the restore report."""
    rows = simulate(varied_settings(seed)).rows
    found, summary, barrier = pauses(rows), summarise(rows), restore_report(rows).barrier

    assert (summary.refits, summary.calls_cut) == (len(found.refits), sum(refit.calls or 0 for refit in found.refits))
    assert pytest.approx(summary.refit_s or 0.0) == sum(refit.seconds or 0.0 for refit in found.refits)
    assert barrier.published == len(found.checkpoints)
    assert pytest.approx(barrier.seconds or 0.0) == sum(one.seconds or 0.0 for one in found.checkpoints)
    assert sum(one.refusals or 0 for one in found.checkpoints) <= barrier.refusals
