"""A shared row names no prompt, machine or place, and the numbers stay what they are."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.overview import OverviewFold
from rtrace_otel.analysis.reading.damage import Damage, DamageKind, SeqGap
from rtrace_otel.analysis.share import DROPPED, OTHER_EVENT, SOURCE, Sharing
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.rows import report_of, row
from tests.analysis.test_summary_malformed import FIELDS, WRONG, whole_row


def shared(event: str, **fields: Any) -> Row:
    """A row as it is shared, without what all rows have."""
    clean = Sharing(b"secret").row(row(event=event, **fields))
    return {name: value for name, value in clean.items() if name not in ("event", "t", "run", "seq")}


def test_a_run_keeps_its_numbers_only() -> None:
    """Host, service, settings and fields of the user's own are gone; a number stays."""
    said = {"schema": 1, "host": "node17", "pid": 3, "service": "secret-job", "config": {"lr": 1}, "mine": "x"}

    assert {"schema": 1, "host": DROPPED, "pid": 3} == shared("run_started", **said)


def test_an_event_of_the_users_own_loses_its_name_and_its_fields() -> None:
    """It is still counted."""
    assert {"event": OTHER_EVENT, "t": 100.0, "run": "a", "seq": 0} == Sharing().row(row(event="my-event", mine=1))


def test_ids_that_begin_alike_still_do() -> None:
    """A call is its attempt's, and an attempt its group's, as before: each piece between separators has one hash."""
    sharing = Sharing(b"secret")
    attempt = sharing.row(row(event="attempt_sealed", attempt_id="17-ab"))["attempt_id"]
    group = sharing.row(row(event="group_sealed", group_id=17))["group_id"]
    ((call, tokens, also),) = sharing.row(row(event="weight_sync", calls=[["17-ab:c0", 5, "17-ab"]]))["calls"]

    assert attempt.startswith(f"{group}-")
    assert call.startswith(f"{attempt}:")
    assert (5, attempt) == (tokens, also)
    assert "17" not in (group, *attempt.split("-"))


def test_nobody_can_guess_an_id() -> None:
    """Two pages of one trace have different hashes, since each has a secret of its own."""
    one = row(event="group_sealed", group_id="17")

    assert Sharing().row(one) != Sharing().row(one)
    assert Sharing(b"s").row(one) == Sharing(b"s").row(one)


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("server error", "server error"),
        ("timeout after 30.5 s", "timeout after 30.5 s"),
        ("cannot read /home/me/data.json now", f"cannot read {DROPPED} now"),
        ("http://node:8000/v1 is gone", f"{DROPPED} is gone"),
        ("lost 10.0.0.7 and gpu.example.com", f"lost {DROPPED} and {DROPPED}"),
        ("refused by worker:8000", f"refused by {DROPPED}"),
        (r"C:\data\x", DROPPED),
        ("me@example.com said no", f"{DROPPED} said no"),
    ],
)
def test_reasons_lose_places(reason: str, kept: str) -> None:
    """Paths, addresses and hosts; the other words stay."""
    assert {"attempt_id": shared("attempt_abandoned", attempt_id="x")["attempt_id"], "reason": kept} == (
        shared("attempt_abandoned", attempt_id="x", reason=reason)
    )


def test_reasons_lose_the_names_of_known_hosts() -> None:
    """A host that began a run is known from then on."""
    sharing = Sharing()
    sharing.row(row(event="run_started", host="gpu7"))

    assert f"{DROPPED} died" == sharing.row(row(event="run_ended", reason="gpu7 died"))["reason"]


def test_checkpoints_and_runs_that_are_made_of_places_become_hashes() -> None:
    """Different ones stay different; plain names and random ids stay as they are."""
    names = ["step-4", "/a/step-4", "/b/step-4"]
    checkpoints = [shared("checkpoint_published", checkpoint_id=name)["checkpoint_id"] for name in names]
    runs = [Sharing(b"s").row(row(run=run))["run"] for run in ("0af3-77", "job_on_gpu7", "b3d1f64e" * 4)]

    assert ("step-4", 3) == (checkpoints[0], len(set(checkpoints)))
    assert not any("/" in name for name in checkpoints)
    assert ("0af3-77", "b3d1f64e" * 4) == (runs[0], runs[2])
    assert "gpu7" not in runs[1]


def test_what_the_reader_met_has_no_text_of_the_file() -> None:
    """Lines and kinds of damage stay."""
    damage, gap = Damage(3, DamageKind.NOT_JSON, "secret text", 0), SeqGap("gpu7", 4, 1, 2)
    read = report_of([row(run="gpu7")], damages=(damage,), gaps=(gap,))
    found = Sharing().report(read)

    assert (SOURCE, [(3, DamageKind.NOT_JSON, "")]) == (
        found.source, [(one.line, one.kind, one.detail) for one in found.damages],
    )  # fmt: skip
    assert "gpu7" not in str(asdict(found))
    assert list(found.runs) == [one.run for one in found.gaps]


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_a_wrong_value_is_no_way_out(name: str) -> None:
    """A secret text in any field, alone or in a list or an object, is not in the shared row; and nothing raises."""
    secret = "/home/secret"
    nested = [
        secret,
        [secret],
        [[secret, secret]],
        {secret: secret},
        {"3": secret},
        [{secret: 1}],
        [[secret, [secret]]],
    ]
    for event_name, field in FIELDS:
        if event_name == name:
            for value in (*WRONG, *nested):
                assert "secret" not in repr(Sharing().row(whole_row(name) | {field: value}))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_the_numbers_stay(seed: int) -> None:
    """Counts, ages, costs and findings of a job are the same with and without names."""
    rows = simulate(varied_settings(seed)).rows
    plain, clean, sharing = OverviewFold(), OverviewFold(), Sharing()
    for line, one in enumerate(rows, 1):
        plain.add(one, line)
        clean.add(sharing.row(one), line)
    read = report_of(rows)
    before, after = plain.result(read), clean.result(sharing.report(read))

    after.self_check()
    assert before.summary.attempts == after.summary.attempts
    assert before.summary.groups == after.summary.groups
    assert [step.best for step in before.staleness.ages.steps] == [step.best for step in after.staleness.ages.steps]
    assert [stop.fates for stop in before.restores.stops] == [stop.fates for stop in after.restores.stops]
    assert before.waste == after.waste
    assert before.check is not None
    assert after.check is not None
    assert before.check.counts == after.check.counts
