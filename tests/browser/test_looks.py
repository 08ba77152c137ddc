"""The page on paper, on a phone, on a wide screen, and of traces that are large, empty or hostile."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.test_summary_malformed import FIELDS, WRONG, whole_row
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built, build_rows
from tests.browser.waiting import until
from tests.report.history import event, started, trace, trained
from tests.report.hostile import HOSTILE, hostile_trace

ATTEMPTS = 99_997
MAX_BYTES = 2_000_000


def test_a_hundred_thousand_attempts_fit_in_two_megabytes(big: Built, open_page: OpenPage) -> None:
    """Everything is drawn from all rows; the page is small enough to be mailed."""
    page = open_page(big.path)

    assert ATTEMPTS == big.overview.timeline.attempts_total
    assert big.path.stat().st_size <= MAX_BYTES
    assert len(big.overview.staleness.ages.steps) == len(page.evaluate("rtrace.panels.age.state().age"))
    tokens = page.evaluate("rtrace.panels.heatmap.state().tokens.reduce((sum, value) => sum + value, 0)")
    assert big.overview.staleness.coverage.known == tokens
    assert 3 == page.locator(".waterfall").count()


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_nothing_is_wider_than_the_screen(demo: Built, open_page: OpenPage, width: int) -> None:
    """Wide tables scroll by themselves; charts take the width there is."""
    page = open_page(demo.path, viewport={"width": width, "height": 900})

    until(page, f"document.documentElement.scrollWidth <= {width}")
    for canvas in page.locator("canvas").all():
        box = canvas.bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= width


def test_charts_follow_the_width_of_the_window(demo: Built, open_page: OpenPage) -> None:
    """Both kinds."""
    page = open_page(demo.path)
    widths = "['age', 'heatmap'].map(name => document.querySelector(`#panel-${name} canvas`).clientWidth)"
    before = page.evaluate(widths)
    page.set_viewport_size({"width": 1000, "height": 900})
    until(page, f"{widths}.every(width => width < {min(before)} && width > 300)")


def test_it_prints_in_light_colours(demo: Built, open_page: OpenPage) -> None:
    """Also from a dark screen; what is only for the screen is left out."""
    page = open_page(demo.path, color_scheme="dark")
    pdf = page.pdf(format="A4")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))

    assert pdf.startswith(b"%PDF")
    assert 3 <= pages <= 30
    page.emulate_media(media="print")
    left_out = ("#theme", "nav", "caption .quiet", ".hint")
    assert [False] * 4 == [page.locator(what).first.is_visible() for what in left_out]
    until(page, "getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'")


def test_no_table_is_cut_on_paper(demo: Built, open_page: OpenPage) -> None:
    """A4 with margins is about 718 pixels wide; paper cannot be scrolled."""
    page = open_page(demo.path, viewport={"width": 718, "height": 1000})
    too_wide = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    on_screen = page.evaluate(too_wide)
    page.emulate_media(media="print")

    assert on_screen > 0
    until(page, f"{too_wide} === 0")


def test_the_keyboard_reaches_everything(demo: Built, open_page: OpenPage) -> None:
    """The first stop skips to the report; the next are the theme and the contents, in that order."""
    page = open_page(demo.path)
    focused = "document.activeElement.textContent || document.activeElement.id"
    seen = []
    for _ in range(4):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))

    assert ["Skip to the report", "theme", "Overview", "Stops and restores"] == seen


def test_a_link_leads_to_its_section(demo: Built, open_page: OpenPage) -> None:
    """Although it is drawn only after the browser has looked for it."""
    page = open_page(demo.path, "#section-waste")

    until(page, "Math.abs(document.getElementById('section-waste').getBoundingClientRect().top - 30) <= 30")


@pytest.mark.parametrize(
    "rows",
    [
        [event("a", "mark")],
        [started("a")],
        [event("a", "train_step", step=1, trained_version=0, group_ids=["g"])],
        [event("a", "weight_sync", replaced_version=0, new_version=1), event("a", "checkpoint_published", step=1)],
        [event("a", "attempt_dispatched", attempt_id="x", group_id="g"), event("b", "attempt_sealed", attempt_id="x")],
    ],
    ids=["foreign row", "only a start", "only a step", "only pauses", "only attempts"],
)
def test_a_trace_with_hardly_anything_has_a_page(
    rows: list[dict[str, object]], tmp_path: Path, open_page: OpenPage
) -> None:
    """What there is nothing to show of is left out; nothing fails."""
    page = open_page(build_rows(trace(*rows), tmp_path).path)

    assert 0 < page.locator(".verdict p").count()
    assert page.locator("#problem").is_hidden()


def test_rows_without_times_have_a_page(tmp_path: Path, open_page: OpenPage) -> None:
    """Nothing can be drawn over time."""
    rows = [row | {"t": "?"} for row in simulate(SimulationSettings(steps=4, stops=1)).rows]
    page = open_page(build_rows(rows, tmp_path).path)

    assert 0 == page.locator("#panel-open").count()
    assert 1 == page.locator("#panel-age").count()


@pytest.mark.parametrize("name", ["HTML", "entities", "direction", "very long", "line ends"])
def test_hostile_texts_are_shown(name: str, tmp_path: Path, open_page: OpenPage) -> None:
    """As text, escaped where they are not printable, and without making the page wider."""
    page = open_page(build_rows(hostile_trace(HOSTILE[name]), tmp_path).path)

    assert 0 == page.locator("main script, main img").count()
    assert "x" not in page.locator("main b").all_text_contents()
    assert 1280 >= page.evaluate("document.documentElement.scrollWidth")


def test_wrong_values_in_every_field_are_drawn_somehow(tmp_path: Path, open_page: OpenPage) -> None:
    """Each field of each event with each kind of wrong value, in one trace: the page opens and complains of nothing."""
    rows = [whole_row(name) | {field: value} for name, field in FIELDS for value in WRONG if _is_json(value)]
    page = open_page(build_rows(trace(*rows), tmp_path).path)

    assert page.locator("#problem").is_hidden()
    assert 8 <= page.locator("main > .section").count()


def _is_json(value: object) -> bool:
    return value == value and value not in (math.inf, -math.inf)


def test_numbers_of_any_size_are_drawn(tmp_path: Path, open_page: OpenPage) -> None:
    """Steps, versions, tokens and times from the smallest to the largest that a row can have."""
    big = 2**63 - 1
    rows: list[Row] = []
    for place, (step, version) in enumerate([(0, 0), (7, 10**6), (10**15, 10**18), (big, big), (-big, -big)]):
        counts = {version - 10**place: 10 ** (3 * place), version: 1}
        rows.append(event("a", "group_published", group_id=str(place), tokens_by_version=counts))
        rows.append(event("a", "weight_sync", replaced_version=version, new_version=version + 1, calls=[["c", big]]))
        rows.append(trained("a", step, version, str(place)))
    timed = [row | {"t": t} for row, t in zip(trace(*rows), [0.0, 1e-9, 1.0, 1e9, *[2.5e11] * 11], strict=True)]
    page = open_page(build_rows(timed, tmp_path).path)

    assert page.locator("#problem").is_hidden()
    assert 5 == len(page.evaluate("rtrace.panels.age.state().step"))
    assert 1280 >= page.evaluate("document.documentElement.scrollWidth")
