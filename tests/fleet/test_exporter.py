"""Spans on their real way into ClickHouse: replayed to a real collector, written by its exporter into its own table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.events import Row
from tests.cli.program import rtrace
from tests.collector.files import OTELCOL
from tests.fleet.clickhouse_http import serving
from tests.fleet.otel_traces import Store, query_of, records
from tests.servers import BUILD_TIMEOUT_S, need_binaries, need_package, otelcol

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

DEMO: Final = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"


@dataclass(frozen=True)
class Arrived:
    """A trace, and the database with what came of it."""

    rows: list[Row]
    store: Store


@pytest.fixture(scope="module")
def arrived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arrived]:
    """The stored demo, killed and restored, in ClickHouse; the collector has been stopped, which empties its queue."""
    need_package("chdb")
    need_binaries()
    store = Store(tmp_path_factory.mktemp("clickhouse"), table=False)
    configs = [OTELCOL / "base.yaml", OTELCOL / "clickhouse.yaml"]
    with (
        serving(store) as address,
        otelcol(configs, {"CLICKHOUSE_ENDPOINT": f"{address}?compress=none"}) as collector,
    ):
        sent = rtrace("replay", DEMO, "--endpoint", collector.otlp_http)
    assert (0, "") == (sent.code, sent.err)
    yield Arrived(list(read_events(DEMO)), store)
    store.close()


def test_the_exporter_writes_the_records_that_other_tests_make(arrived: Arrived) -> None:
    """Every span once, each column the same: what the queries are tested on is what they will meet."""
    found = arrived.store.ask("SELECT * FROM otel_traces ORDER BY TraceId, SpanId")
    expected = sorted(records(arrived.rows), key=lambda record: (record["TraceId"], record["SpanId"]))
    assert expected == [{**row, "Duration": int(row["Duration"])} for row in found]


def test_batch_age_from_the_table_of_the_exporter(arrived: Arrived) -> None:
    """The same steps and ages as from the file."""
    query = query_of("batch age per step").replace("'grpo-math'", f"'{arrived.rows[0]['service']}'")
    expected = batch_age_by_step(arrived.rows)
    assert len(expected) > 5
    assert pytest.approx(expected) == {int(row["step"]): row["batch_age"] for row in arrived.store.ask(query)}


def test_abandoned_attempts_from_the_table_of_the_exporter(arrived: Arrived) -> None:
    """As many for each reason as the summary counts."""
    found = arrived.store.ask(query_of("abandoned attempts by reason"))
    expected = summarise(arrived.rows).attempts.abandoned
    assert expected
    assert expected == {row["reason"]: int(row["attempts"]) for row in found}
