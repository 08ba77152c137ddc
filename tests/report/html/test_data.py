"""What the page carries equals what the analyses say, whatever stands in the file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.overview import Overview, OverviewFold
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.document import Column, Table
from rtrace_otel.report.html.bins import BINNED_ABOVE, MAX_BINS, bin_size, bins
from rtrace_otel.report.html.blocks import MAX_ROWS, table_json
from rtrace_otel.report.html.data import opening, page_data, page_tables
from rtrace_otel.report.html.flow_data import flow_facts, marked_waits
from rtrace_otel.report.html.page import render_page
from rtrace_otel.report.html.tiles import tiles
from rtrace_otel.report.html.words import megabytes
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.test_summary_malformed import FIELDS, GOOD, WRONG, whole_row
from tests.browser.pages import DEMO
from tests.report.history import event, trace, trained
from tests.report.hostile import HOSTILE, hostile_trace
from tests.report.html.packed import carried


def looked_at(rows: Iterable[Row]) -> tuple[Overview, ReadReport]:
    """What is known of rows."""
    reader = read_events([json.dumps(row).encode() for row in rows])
    fold = OverviewFold()
    for row in reader:
        fold.add(row, reader.line)
    found = fold.result(reader.report)
    found.self_check()
    return found, reader.report


def page_of(rows: Iterable[Row]) -> str:
    """The page of rows."""
    return render_page(page_data(*looked_at(rows)))


@pytest.fixture(scope="module")
def demo() -> tuple[Overview, ReadReport]:
    """What is known of the stored demo."""
    return looked_at(list(read_events(DEMO)))


def test_the_head_begins_with_the_verdict(demo: tuple[Overview, ReadReport]) -> None:
    """What the stop cost comes first, as ``rtrace restore`` says it; then what else the commands say first."""
    said = (
        "This stop cost 53 rollouts and at least 1,818 tokens, 54 % of the tokens known of what was in flight or done"
    )

    assert f"{said} since the checkpoint; every rollout came back." == opening(*demo)[0]
    assert 7 == len(opening(*demo))


def test_tables_of_the_demo(demo: tuple[Overview, ReadReport]) -> None:
    """A row for each step; token ages, waste and refits add up to the reports."""
    found, read = demo
    head, document, tables = carried(render_page(page_data(found, read)))
    ages, cells = tables["ages"], tables["token_ages"]

    assert [step.step for step in found.staleness.ages.steps] == ages["step"] == ages["last"]
    assert [step.best for step in found.staleness.ages.steps] == ages["age"]
    assert [step.p95 for step in found.staleness.ages.steps] == ages["p95"]
    assert found.staleness.coverage.known == sum(cells["tokens"])
    wasted = waste_report(read_events(DEMO)).steps
    assert sum(step.lost for step in wasted) == tables["waste"][_column(document, "lost")][-1]
    assert found.summary.calls_cut == sum(tables["refits"]["calls"])
    assert (found.summary.runs[0].run, found.summary.runs[0].run[:8]) == tuple(head["runs"][0].values())


def _column(document: Any, label: str) -> str:
    (place,) = [place for place, account in enumerate(document["accounts"]) if account["label"] == label]
    return f"account{place}"


def test_parts_of_the_age_add_up(demo: tuple[Overview, ReadReport]) -> None:
    """In each step, the four parts are its batch age."""
    _, _, tables = carried(render_page(page_data(*demo)))
    ages = tables["ages"]
    parts = zip(ages["in_call"], ages["in_group"], ages["in_queue"], ages["train_lag"], strict=True)

    assert ages["age"] == [pytest.approx(sum(part)) for part in parts]


def test_tiles_have_the_numbers_of_the_reports(demo: tuple[Overview, ReadReport]) -> None:
    """As people read them."""
    shown = {tile["label"]: (tile["value"], tile["note"]) for tile in tiles(demo[0])}

    assert ("1", "53 rollouts lost") == shown["stops"]
    assert ("1,818", "to stops, at least") == shown["tokens lost"]
    assert ("308 ms", "first step 553 ms later") == shown["nothing ran for"]
    assert ("1.533", "steps from 0.000 to 1.975") == shown["batch age"]
    assert ("79 %", "of at least 23,044 tokens") == shown["trained"]
    assert ("421", "52 abandoned, 33 interrupted") == shown["attempts"]
    assert ("0 errors", "0 warnings") == shown["check"]


def test_waits_of_the_demo(demo: tuple[Overview, ReadReport]) -> None:
    """The trainer waits before 14 steps; each wait ends where its step starts, and all are marked."""
    found = demo[0]
    waits = marked_waits(found)

    assert found.steps.verdicts["trainer waits"] == len(waits) == flow_facts(found)["waits"] == 14
    assert {wait.end for wait in waits} <= {step.started for step in found.steps.steps}
    assert waits == sorted(waits)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_any_job_has_a_page(seed: int) -> None:
    """Whatever its stops and faults: every table has as many rows as there are points, and sums agree."""
    found, read = looked_at(simulate(varied_settings(seed)).rows)
    _, document, tables = carried(render_page(page_data(found, read)))

    assert found.staleness.coverage.known == sum(tables["token_ages"]["tokens"])
    assert found.summary.refits == len(tables["refits"]["seconds"])
    assert len(document["stop_sentences"]) == len(found.restores.stops) == len(document["texts"]["stop_facts"])
    assert len(document["texts"]["fates"]) == len(found.restores.stops)
    assert sum(map(sum, found.waste_steps.tokens.values())) == sum(
        tables["waste"][f"account{place}"][-1] for place in range(len(document["accounts"]))
    )


def test_bins_by_hand() -> None:
    """Up to 5,000 one by one; 5,001 in groups of three (5,001 / 2,000, rounded up)."""
    assert (1, 3) == (bin_size(BINNED_ABOVE), bin_size(BINNED_ABOVE + 1))
    assert [[0], [1]] == bins([0, 1])
    assert [0, 3, 6] == [one[0] for one in bins(range(BINNED_ABOVE + 1))][:3]
    assert MAX_BINS >= len(bins(range(123_456)))
    assert [] == bins([])


def test_many_steps_are_shown_together() -> None:
    """6,000 steps in bins of three: ages 0, 0 and 3 with 100, 100 and 200 tokens have the mean 1.5.

    Of 400 tokens half have age 0 and half age 3, so the median is 0 and the 95th percentile 3.
    """
    rows: list[Row] = []
    for step in range(1, 6001):
        tokens, behind = (200, 3) if step % 3 == 0 else (100, 0)
        rows.append(event("a", "group_published", group_id=str(step), tokens_by_version={step - behind: tokens}))
        rows.append(trained("a", step, step, str(step)))
    found, read = looked_at(trace(*rows))
    tables = page_tables(found)
    _, document, values = carried(render_page(page_data(found, read)))
    ages = values["ages"]

    assert {"steps": 6000, "points": 2000} == document["staleness"]
    assert [2000] * 3 == [tables["ages"]["step"].rows, len(ages["age"]), len(ages["last"])]
    assert ((1, 3), (4, 6)) == tuple(zip(ages["step"], ages["last"], strict=True))[:2]
    assert [1.5] * 2000 == ages["age"]
    assert ([0] * 2000, [3] * 2000, [3] * 2000, [400] * 2000) == (ages["p50"], ages["p95"], ages["max"], ages["tokens"])
    assert 6000 == document["texts"]["ages"][0]["of"]
    assert MAX_ROWS == len(document["texts"]["ages"][0]["rows"])


def test_a_table_keeps_its_head() -> None:
    """The first rows, as shown and as values, and how many there are."""
    table = Table(
        "t", (Column("n", "number"), Column("w", "word", align="left")), [{"n": n, "w": "x"} for n in range(9)]
    )
    found = table_json(table, limit=2)

    assert ([["0", "x"], ["1", "x"]], {}, 9) == (found["rows"], found["values"], found["of"])


def test_a_table_has_the_values_that_its_cells_do_not_say() -> None:
    """Whole numbers are read from the cells; a rounded share is not, nor one beside a fraction."""
    columns = (Column("n", "n", lambda n: f"{n:,}"), Column("s", "s", lambda s: f"{100 * s:.0f} %"), Column("m", "m"))
    found = table_json(Table("t", columns, [{"n": 1234, "s": 1 / 3, "m": 7}, {"n": 5, "s": 1e-9, "m": 0.1234567}]))

    assert {"s": [0.3333333, 1e-9], "m": [7, 0.1234567]} == found["values"]


def test_sizes_in_words() -> None:
    """Kilobytes up to a megabyte."""
    assert ["0 KB", "1 KB", "999 KB", "1.0 MB", "1.2 MB"] == [
        megabytes(size) for size in (0, 1_000, 999_499, 999_500, 1_240_000)
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_carried_as_they_are_shown(name: str) -> None:
    """No control character gets into the page's texts, and no text opens an element."""
    page = page_of(hostile_trace(HOSTILE[name]))
    head, document, _ = carried(page)

    assert all(text.isprintable() for text in _texts([head, document]))
    assert "<b>x" not in page


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_no_value_of_any_field_raises(name: str) -> None:
    """Rows with wrong values in each field of an event: there is a page, and its JSON is strict."""
    rows = [whole_row(name) | {field: value} for event_name, field in FIELDS if event_name == name for value in WRONG]
    found = OverviewFold()
    for line, row in enumerate(trace(*GOOD, *rows, *GOOD), 1):
        found.add(row, line)
    read = read_events([b"{}"]).report

    assert carried(render_page(page_data(found.result(read), read)))
