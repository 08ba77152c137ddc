"""The fleet's report: jobs in order, their sum, and groups of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.fleet.numbers import Numbers, Volume, total_of
from rtrace_otel.fleet.pool import read_here
from rtrace_otel.fleet.report import SORTS, fleet_report
from rtrace_otel.fleet.results import Failure, Outcome
from rtrace_otel.report.fleet import fleet_json
from tests.fleet.files import job, write_job


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Five simulated jobs, and one that is not there."""
    folder = tmp_path_factory.mktemp("fleet")
    paths = [str(write_job(folder / f"job{seed}", seed)) for seed in range(5)]
    return [outcome for _, outcome in read_here([*paths, str(folder / "gone.jsonl")])]


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_order_gives_the_same_report(read: list[Outcome], data: st.DataObject) -> None:
    """Byte for byte, whatever it is sorted and grouped by; and the total is the sum of the jobs."""
    sort, by = data.draw(st.sampled_from([*SORTS, "path", "started"])), data.draw(st.sampled_from([None, "host"]))
    shuffled = data.draw(st.permutations(read))
    report = fleet_report(read, by=by, sort=sort)
    report.self_check()
    assert json.dumps(fleet_json(report)) == json.dumps(fleet_json(fleet_report(shuffled, by=by, sort=sort)))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["x", "y", None]), max_size=6))
def test_groups_add_up_to_the_total(values: list[str | None]) -> None:
    """Each job is in one group, those that do not say in one of their own, at the end of those of its size."""
    jobs = [
        replace(job(f"/{place}"), fields={} if value is None else {"team": value}) for place, value in enumerate(values)
    ]
    report = fleet_report(jobs, by="team")
    report.self_check()
    assert {value: values.count(value) for value in values} == {g.value: g.numbers.jobs for g in report.groups}
    assert sorted((g.numbers.jobs for g in report.groups), reverse=True) == [g.numbers.jobs for g in report.groups]


def test_jobs_are_sorted_by_what_is_asked() -> None:
    """The greatest first, the unknown last, equal ones by path."""
    few, many = Numbers(jobs=1, lost=Volume(1, 5)), Numbers(jobs=1, lost=Volume(1, 50), ages={3: 1})
    jobs = [job("/c", few), job("/a", few), job("/b", many)]

    def order(sort: str) -> list[str]:
        return [one.path for one in fleet_report(jobs, sort=sort).jobs]

    assert ["/b", "/a", "/c"] == order("tokens-lost")
    assert ["/b", "/a", "/c"] == order("age-p95")
    assert ["/a", "/b", "/c"] == order("path")
    assert ["/a", "/b", "/c"] == order("started")


def test_jobs_before_a_time_are_left_out_and_counted() -> None:
    """By their last row: one that still ran then is kept. A job without any time cannot be judged."""
    old, undated = job("/old"), replace(job("/undated"), last_row=None)
    running = replace(job("/running"), last_row=300.0)
    report = fleet_report([old, undated, running, Failure("/gone", "no")], since=300.0)
    report.self_check()
    assert (["/running"], 1, 1) == ([one.path for one in report.jobs], report.older, report.undated)
    assert total_of([running.numbers]) == report.total
    assert (Failure("/gone", "no"),) == report.failures


def test_seconds_add_up_exactly() -> None:
    """Ten times 0.1 s is 1 s, in any order and to the last digit."""
    assert 1.0 == fleet_report([job(f"/{place}") for place in range(10)]).total.dead_s


def test_the_check_sees_a_wrong_total() -> None:
    """A report whose total is not the sum is not let through."""
    report = replace(fleet_report([job("/a")]), total=Numbers(jobs=1))
    with pytest.raises(AssertionError):
        report.self_check()
