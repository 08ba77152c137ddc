"""The picture of the job over time draws what the analysis says; its filter and its table hold what they should."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from rtrace_otel.analysis.timeline.results import NOWHERE, UNKNOWN, Timeline
from rtrace_otel.analysis.timeline.states import STATES, State
from rtrace_otel.events import Row
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built, build_rows
from tests.browser.timeline import CANVAS, places_of, press, state
from tests.browser.waiting import until
from tests.report.timed import JOB

HOSTILE = '"><img src=x onerror=alert(1)>${1}\u202e\x1b[31m'


def test_every_attempt_is_drawn(demo: Built, open_page: OpenPage) -> None:
    """Bars, lanes, states and bands are those of the analysis."""
    found, now = demo.overview.timeline, state(open_page(demo.path))
    states = Counter(str(found.state(row)) for row in range(found.attempts_shown))

    assert found.attempts_shown == now["drawn"] == now["inView"] == now["rows"] == now["matching"]
    assert {str(name): states[str(name)] for name in STATES} == now["byState"]
    assert found.lanes == now["lanes"]
    assert {kind: len(getattr(found.bands, kind)) for kind in found.bands.__slots__} == now["bands"]
    assert 0 == now["from"]
    assert now["to"] == pytest.approx((found.end or 0) - (found.start or 0))


def test_times_arrive_to_the_millisecond(demo: Built, open_page: OpenPage) -> None:
    """Start, end and lane of each attempt."""
    columns, origin = demo.overview.timeline.attempts, demo.overview.timeline.start or 0.0
    start, end, lane = open_page(demo.path).evaluate(
        "(() => { const m = rtrace.timeline.build(rtrace.data); return [[...m.start], [...m.end], [...m.lane]]; })()"
    )

    assert [pytest.approx(value - origin, abs=0.00051) for value in columns.start] == start
    assert [pytest.approx(value - origin, abs=0.00051) for value in columns.end] == end
    assert list(columns.lane) == lane


def test_one_absurd_time_is_left_out_and_said(tmp_path: Path, open_page: OpenPage) -> None:
    """A row of the year 2096 amid a minute of 2025: the whole job is a minute, and a note says what is left out."""
    now = 1_750_000_000.0
    rows = [{**row, "t": 4e9 if place == 10 else now + row["t"]} for place, row in enumerate(JOB)]
    page = open_page(build_rows(rows, tmp_path).path)

    assert state(page)["span"] < 60
    notes = page.locator("#panel-timeline .finding", has_text="1 row has a time that is a week or more away")
    assert 1 == notes.count()


def colours_at(page: Page, places: list[tuple[float, float]]) -> list[str]:
    """The colours of the canvas at places, as in ``#0a5fa5``."""
    found: list[list[int]] = page.evaluate(
        f"""(places) => {{ const c = document.querySelector("{CANVAS}");
        const {{ data }} = c.getContext("2d").getImageData(0, 0, c.width, c.height);
        return places.map(([x, y]) => [...data.slice(4 * (y * c.width + x), 4 * (y * c.width + x) + 3)]); }}""",
        [[int(x), int(y)] for x, y in places],
    )
    return ["#" + bytes(colour).hex() for colour in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_have_the_colour_of_their_outcome(demo: Built, open_page: OpenPage, scheme: str) -> None:
    """The pixel in the middle of an attempt of each state, unless a line of a refit runs through it."""
    page, found = open_page(demo.path, color_scheme=scheme), demo.overview.timeline
    colours = page.evaluate("rtrace.timeline.palette(rtrace.timeline.build(rtrace.data)).states")
    shown = colours_at(page, places_of(page, range(found.attempts_shown)))
    seen = {found.state(row) for row, colour in enumerate(shown) if colour == colours[found.attempts.state[row]]}

    assert {found.state(row) for row in range(found.attempts_shown)} == seen
    assert len(seen) >= 6


def test_colours_change_at_each_refit(demo: Built, open_page: OpenPage) -> None:
    """As many bars as there are stretches of one version, and the button says what the colours mean."""
    page, found = open_page(demo.path), demo.overview.timeline
    page.click('[data-color="version"]')
    stretches = sum(len(list(found.segments(row))) for row in range(found.attempts_shown))

    assert stretches == state(page)["drawn"]
    assert "true" == page.get_attribute('[data-color="version"]', "aria-pressed")
    assert "v3" in page.locator(".tl-legend").inner_text()


def prompt_of(found: Timeline, row: int) -> str:
    """Its prompt."""
    return found.tables.prompts[found.attempts.prompt[row]]


def reason_of(found: Timeline, row: int) -> str:
    """Why it was abandoned; nothing for no reason."""
    place = found.attempts.reason[row]
    return "" if place == NOWHERE else found.tables.reasons[place]


FILTERS: list[tuple[str, Callable[[Timeline, int], bool]]] = [
    ("outcome:abandoned", lambda found, row: found.state(row) is State.ABANDONED),
    ("prompt:18", lambda found, row: prompt_of(found, row) == "18"),
    ("step:3-5", lambda found, row: 3 <= found.attempts.step[row] <= 5),
    ("step:7 prompt:18", lambda found, row: found.attempts.step[row] == 7 and prompt_of(found, row) == "18"),
    ("run:b65d", lambda found, row: found.tables.runs[found.attempts.run[row]].startswith("b65d")),
    ("run:nosuch", lambda _, __: False),
    ("tokens:>200", lambda found, row: found.attempts.tokens[row] > 200),
    ("generation:2", lambda found, row: found.attempts.generation[row] == 2),
    ('reason:"SERVER ERR"', lambda found, row: "server err" in reason_of(found, row)),
    ("reason:server_error", lambda found, row: "server error" in reason_of(found, row)),
    ("2e481d0abf9a", lambda found, row: found.tables.groups[found.attempts.group[row]] == "2e481d0abf9a"),
]


@pytest.mark.parametrize(("text", "takes"), FILTERS, ids=[text for text, _ in FILTERS])
def test_the_filter_counts_what_the_analysis_has(
    demo: Built, open_page: OpenPage, text: str, takes: Callable[[Timeline, int], bool]
) -> None:
    """Each word must hold; what does not match stays as a shadow."""
    page, found = open_page(demo.path), demo.overview.timeline
    page.fill('input[type="search"]', text)
    expected = sum(bool(takes(found, row)) for row in range(found.attempts_shown))

    assert expected == state(page)["matching"]
    assert found.attempts_shown == state(page)["inView"]
    until(page, f"document.querySelector('.tl-count').textContent.startsWith('{expected:,} of ')")


def test_a_filter_that_cannot_be_says_so(demo: Built, open_page: OpenPage) -> None:
    """A step is a number or a range."""
    page = open_page(demo.path)
    page.fill('input[type="search"]', "step:often")
    page.wait_for_selector('input[aria-invalid="true"]')

    assert "step: takes a number or a range such as 3-9, not often" == page.inner_text(".tl-count")


def test_a_filter_with_a_key_that_there_is_not_says_which_there_are(demo: Built, open_page: OpenPage) -> None:
    """Only if nothing matches: an id may look like that."""
    page = open_page(demo.path)
    page.fill('input[type="search"]', "promt:17")
    page.wait_for_selector('input[aria-invalid="true"]')

    assert page.inner_text(".tl-count").startswith("nothing matches, and promt is no key: prompt, group, run, ")


def test_outcomes_can_be_switched_off(demo: Built, open_page: OpenPage) -> None:
    """And on again; the key keeps the focus, for the keyboard."""
    page, found = open_page(demo.path), demo.overview.timeline
    trained = sum(found.state(row) is State.TRAINED for row in range(found.attempts_shown))
    page.focus('[data-state="trained"]')
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-state="trained"][aria-pressed="false"]')

    assert found.attempts_shown - trained == state(page)["matching"]
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-state="trained"][aria-pressed="true"]')
    assert found.attempts_shown == state(page)["matching"]


def test_the_table_holds_what_is_in_view(demo: Built, open_page: OpenPage) -> None:
    """The first 200 of those that match, and it says how many there are."""
    page, found = open_page(demo.path), demo.overview.timeline
    page.click("text=Attempts in view as a table")
    page.click("#panel-timeline >> text=show all 200")
    rows = page.locator("#panel-timeline tbody tr")

    assert 200 == rows.count()
    assert f"{found.attempts_shown - 200} more rows are not in this page" in page.inner_text("#panel-timeline .more")
    page.fill('input[type="search"]', "outcome:resumed")
    resumed = sum(found.state(row) is State.RESUMED for row in range(found.attempts_shown))
    until(page, f"document.querySelectorAll('#panel-timeline tbody tr').length === {resumed}")


def hostile_rows() -> list[Row]:
    """Ids that look like HTML, and numbers that cannot be."""
    odd: dict[str, Any] = {"generation_index": -7, "instance": HOSTILE}
    events: list[tuple[str, Any, dict[str, Any]]] = [
        ("run_started", 0.0, {"schema": 1, "host": "h", "pid": 1}),
        ("group_reserved", 1.0, {}),
        ("attempt_dispatched", 2.0, {"attempt_id": HOSTILE, **odd}),
        ("attempt_dispatched", "x", {"attempt_id": "y", "generation_index": 2**62}),
        ("weight_sync", 3.0, {"replaced_version": 0, "new_version": -5, "calls": [[HOSTILE, 3]]}),
        ("attempt_abandoned", 9.0, {"attempt_id": HOSTILE, "reason": HOSTILE}),
        ("checkpoint_published", 9.5, {"checkpoint_id": HOSTILE, "step": 10**30}),
    ]
    ids = {"run": HOSTILE, "group_id": HOSTILE, "prompt_id": HOSTILE}
    return [{"event": name, "t": t, "seq": seq, **ids, **more} for seq, (name, t, more) in enumerate(events)]


def test_hostile_ids_are_text(tmp_path: Path, open_page: OpenPage) -> None:
    """In the hint, the story, the table and the link; times and numbers that cannot be break nothing."""
    page = open_page(build_rows(hostile_rows(), tmp_path).path)
    press(page, "Enter")
    page.click('[data-color="version"]')
    page.click("text=Attempts in view as a table")

    assert 0 == page.locator("img").count()
    assert '"><img src=x onerror=alert(1)>${1}' in page.inner_text(".tl-story")
    selected = state(page)["selected"]
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert selected == state(page)["selected"]
    assert 0 == page.locator("img").count()


def test_numbers_of_the_columns(demo: Built, open_page: OpenPage) -> None:
    """Tokens, steps and versions arrive as they are, unknown ones as NaN."""
    columns = demo.overview.timeline.attempts
    found = open_page(demo.path).evaluate(
        """["tokens", "step", "version", "refusals"].map((name) =>
        [...rtrace.data.tables.attempts[name]].map((value) => Number.isNaN(value) ? null : value))"""
    )
    expected = [
        [None if value == UNKNOWN else value for value in column]
        for column in (columns.tokens, columns.step, columns.version_start, columns.refusals)
    ]

    assert expected == found
    assert any(not math.isnan(value) for value in columns.reward)


def test_tall_bars_are_labelled(demo: Built, open_page: OpenPage) -> None:
    """Prompt and generation of an attempt stand in its bar when lanes are zoomed: the bar has more than one colour."""
    page = open_page(demo.path, "#timeline?x=1.4,2.4&y=0,20")
    box = state(page)["box"]
    colours = set(colours_at(page, [(box["x"] + x, box["y"] + 9) for x in range(4, 80)]))

    assert len(colours) > 3
