"""A link leads to any view of the timeline, and the browser's back button to the one before."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.timeline.states import State
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built
from tests.browser.timeline import CANVAS, press, state
from tests.browser.waiting import until


def test_a_link_restores_range_filter_colours_and_selection(demo: Built, open_page: OpenPage) -> None:
    """What one page shows, another one that is opened with its address shows, too."""
    page = open_page(demo.path)
    press(page, "+", "+", "Enter")
    page.fill('input[type="search"]', 'reason:"server error"')
    page.click('[data-state="lost"]')
    page.click('[data-color="version"]')
    seen = state(page)
    fragment = page.evaluate("location.hash")
    again = state(open_page(demo.path, fragment))

    kept = ("query", "color", "hidden", "selected", "selectedRow", "matching", "inView", "drawn")
    assert {name: seen[name] for name in kept} == {name: again[name] for name in kept}
    assert (seen["from"], seen["to"]) == (pytest.approx(again["from"], abs=1e-3), pytest.approx(again["to"], abs=1e-3))
    assert seen["selectedRow"] >= 0


def test_a_page_opened_with_a_link_shows_the_timeline(demo: Built, open_page: OpenPage) -> None:
    """It scrolls there."""
    page = open_page(demo.path, "#timeline?x=1,2")
    until(page, "document.getElementById('panel-timeline').getBoundingClientRect().top < innerHeight / 2")

    assert (1, 2) == (state(page)["from"], state(page)["to"])


def test_back_and_forward(demo: Built, open_page: OpenPage) -> None:
    """Each decision is one step back; moving about is none."""
    page = open_page(demo.path)
    page.click('[data-color="version"]')
    press(page, "Enter")
    selected = state(page)["selected"]
    page.click("#panel-timeline >> text=only this prompt")
    page.go_back()
    until(page, "rtrace.panels.timeline.state().query === ''")
    assert selected == state(page)["selected"]
    page.go_back()
    until(page, "rtrace.panels.timeline.state().selected === null")
    assert "version" == state(page)["color"]
    page.go_back()
    until(page, "rtrace.panels.timeline.state().color === 'outcome'")
    page.go_forward()
    until(page, "rtrace.panels.timeline.state().color === 'version'")


def test_a_new_fragment_in_the_address(demo: Built, open_page: OpenPage) -> None:
    """As when somebody follows a link within the page."""
    page = open_page(demo.path)
    page.evaluate("location.hash = '#timeline?q=outcome:lost&off=trained'")
    until(page, "rtrace.panels.timeline.state().query === 'outcome:lost'")
    found = demo.overview.timeline

    assert sum(found.state(row) is State.LOST for row in range(found.attempts_shown)) == state(page)["matching"]
    assert ["trained"] == state(page)["hidden"]


@pytest.mark.parametrize(
    "fragment",
    ["#timeline?", "#timeline?x=a,b&y=9,1&off=nothing&color=blue&sel=x", "#timeline?x=1e999,2", "#timeline?x=-5,1e12"],
)
def test_a_link_that_says_nothing_sensible_shows_the_whole_job(demo: Built, open_page: OpenPage, fragment: str) -> None:
    """Nothing breaks."""
    page = open_page(demo.path, fragment)

    assert state(page)["wholeView"]
    assert demo.overview.timeline.attempts_shown == state(page)["matching"]
    assert 1 == page.locator(CANVAS).count()
