"""The SQL of the page on many jobs, in a real ClickHouse, on spans that the projector made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from rtrace_otel.analysis.age.ages import token_age_quantile
from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.fleet.otel_traces import Store, query_of, records
from tests.report.history import abandoned, dispatched, published, reserved, started, trace, trained
from tests.servers import need_package

DEMO: Final = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"
JOBS: Final = {
    "one stop": SimulationSettings(seed=1),
    "three stops, new ids": SimulationSettings(seed=2, stops=3, new_group_ids=True, steps=20),
    "versions begin anew": SimulationSettings(seed=3, stops=2, version_restarts=True),
    "nothing is kept": SimulationSettings(seed=4, stops=2, keeps="nothing"),
    "siblings": SimulationSettings(seed=5, stops=2, keeps="sibling", refit_every=3),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all tests: there can be only one in a process."""
    need_package("chdb")
    store = Store(tmp_path_factory.mktemp("clickhouse"))
    yield store
    store.close()


@pytest.fixture
def store(database: Store) -> Store:
    """The database, empty."""
    database.clear()
    return database


def _service(rows: list[Row]) -> str:
    return str(next(row["service"] for row in rows if row["event"] == "run_started"))


def _ages(store: Store, rows: list[Row]) -> dict[int, float]:
    query = query_of("batch age per step").replace("'grpo-math'", f"'{_service(rows)}'")
    return {int(row["step"]): row["batch_age"] for row in store.ask(query)}


@pytest.mark.parametrize("job", JOBS)
def test_batch_age_per_step(store: Store, job: str) -> None:
    """The same steps, each with the age that the file's published counts give."""
    rows = simulate(JOBS[job]).rows
    store.insert(records(rows))
    expected = batch_age_by_step(rows)
    assert len(expected) > 5
    assert pytest.approx(expected) == _ages(store, rows)


def test_batch_age_of_a_real_job(store: Store) -> None:
    """The stored demo, killed and restored."""
    rows = list(read_events(DEMO))
    store.insert(records(rows))
    expected = batch_age_by_step(rows)
    assert expected
    assert pytest.approx(expected) == _ages(store, rows)


def test_token_ages(store: Store) -> None:
    """One step of version 5 on 60 tokens of version 5, 35 of 4 and 5 of 1: p50 0, p95 1, mean (35 + 20) / 100."""
    rows = trace(
        started("a", service="job"),
        reserved("a", "g"),
        published("a", "g", {5: 60, 4: 35, 1: 5}),
        trained("a", 1, 5, "g"),
    )
    store.insert(records(rows))
    query = query_of("batch age per step").replace("'grpo-math'", "'job'")
    (row,) = store.ask(query)
    counts = {5: 60, 4: 35, 1: 5}
    assert pytest.approx(0.55) == row["batch_age"]
    assert (token_age_quantile(counts, 5, 0.5), token_age_quantile(counts, 5, 0.95)) == (
        int(row["p50"]), int(row["p95"])
    )  # fmt: skip
    assert (0, 1, 100) == (int(row["p50"]), int(row["p95"]), int(row["tokens_trained"]))


def test_spans_that_were_sent_twice_count_once(store: Store) -> None:
    """A replay after an outage of the collector changes no answer; another service's spans neither."""
    rows = simulate(JOBS["one stop"]).rows
    first = records(rows)
    store.insert(first)
    once = (_ages(store, rows), store.ask(query_of("abandoned attempts by reason")))
    store.insert(first)
    assert once == (_ages(store, rows), store.ask(query_of("abandoned attempts by reason")))
    store.insert([{**record, "ServiceName": "another"} for record in records(simulate(JOBS["siblings"]).rows)])
    assert once[0] == _ages(store, rows)


def test_abandoned_attempts_by_reason(store: Store) -> None:
    """As many for each reason as the summary of the trace counts, over all jobs."""
    jobs = {name: simulate(settings).rows for name, settings in JOBS.items()}
    expected: Counter[str] = Counter()
    for name, rows in jobs.items():
        store.insert([{**record, "ServiceName": name} for record in records(rows)])
        expected.update(summarise(rows).attempts.abandoned)
    found: Counter[str] = Counter()
    for row in store.ask(query_of("abandoned attempts by reason")):
        assert row["service"] in jobs
        found[row["reason"]] += int(row["attempts"])
    assert expected
    assert expected == found


def test_what_abandoned_attempts_cost(store: Store) -> None:
    """Two of one reason, of which one says its 40 tokens; rows are a second apart, so they ran 2 s each."""
    rows = trace(
        started("a", service="job"),
        reserved("a", "g"),
        dispatched("a", "x", "g"),
        dispatched("a", "y", "g"),
        {**abandoned("a", "x", "timeout"), "tokens": 40},
        abandoned("a", "y", "timeout"),
    )
    store.insert(records(rows))
    (row,) = store.ask(query_of("abandoned attempts by reason"))
    assert ("job", "timeout", 2, 40, 4.0) == (
        row["service"], row["reason"], int(row["attempts"]), int(row["tokens_at_least"]), row["attempt_seconds"]
    )  # fmt: skip


def test_logged_age_by_service(store: Store) -> None:
    """Age 1 of 300 tokens and age 2 of 100: 1.25; a step trained again counts as it was trained last."""
    steps = [
        {**trained("a", 1, 5, "g", logged=9.0), "tokens": 100},
        {**trained("a", 2, 5, "g", logged=1.0), "tokens": 300},
        {**trained("a", 1, 5, "g", logged=2.0), "tokens": 100},
    ]
    store.insert(records(trace(started("a", service="job"), *steps)))
    (row,) = store.ask(query_of("logged batch age by service"))
    assert ("job", 2, 1.25) == (row["service"], int(row["steps"]), row["batch_age"])
