"""Tables can be sorted by a column and copied."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page

from rtrace_otel.report.numbers import count
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built
from tests.browser.waiting import until


@pytest.fixture
def page(demo: Built, open_page: OpenPage) -> Page:
    """The page of the demo, with every table open; its clipboard may be read."""
    page = open_page(demo.path, permissions=["clipboard-read", "clipboard-write"])
    for summary in page.locator(".fold > summary").all():
        summary.click()
    until(page, "[...document.querySelectorAll('.fold')].every(fold => fold.querySelector('table'))")
    return page


def attempts(page: Page) -> Locator:
    """The table of slow attempts."""
    return page.locator("#panel-attempts .table")


def column(table: Locator, title: str) -> list[str]:
    """The cells of a column, from top to bottom."""
    place = table.locator("thead th").all_text_contents().index(title)
    return [row.locator("td").nth(place).text_content() or "" for row in table.locator("tbody tr").all()]


def test_tables_are_folded_until_asked(demo: Built, open_page: OpenPage) -> None:
    """Each says how many rows it has."""
    page = open_page(demo.path)
    steps = page.locator("#panel-steps")

    assert 0 == steps.locator("table").count()
    assert f"Training steps ({len(demo.overview.steps.steps)})" == steps.locator("summary").text_content()


def test_what_was_opened_stays_open_when_new_data_come(page: Page) -> None:
    """And is filled again."""
    page.evaluate("rtrace.draw(rtrace.data)")

    until(page, "[...document.querySelectorAll('.fold')].every(fold => fold.open && fold.querySelector('table'))")


def test_a_column_sorts_by_its_values(demo: Built, page: Page) -> None:
    """Numbers first from large to small, then the other way; what is unknown comes last both times."""
    table = attempts(page)
    known = sorted(one.tokens for one in demo.overview.slow.attempts.attempts if one.tokens is not None)
    head = table.locator("th", has_text="tokens").first
    table.locator("button", has_text="show all").click()

    assert "none" == head.get_attribute("aria-sort")
    head.locator("button").click()
    assert [count(value) for value in reversed(known)] == column(table, "tokens")[: len(known)]
    assert "descending" == head.get_attribute("aria-sort")
    head.locator("button").press("Enter")
    assert [count(value) for value in known] == column(table, "tokens")[: len(known)]
    assert "ascending" == head.get_attribute("aria-sort")


def test_a_sorted_table_stays_sorted_when_new_data_come(page: Page) -> None:
    """And as long as it was; another table is as it was, too."""
    attempts(page).locator("th", has_text="tokens").first.locator("button").click()
    attempts(page).locator(".more button").click()
    sorted_by_hand = column(attempts(page), "tokens")
    page.evaluate("rtrace.draw(rtrace.data)")
    until(page, "document.querySelector('#panel-attempts .fold table') !== null")

    assert sorted_by_hand == column(attempts(page), "tokens")
    assert ["descending"] == [
        state for head in attempts(page).locator("th").all() if (state := head.get_attribute("aria-sort")) != "none"
    ]
    assert 0 == page.locator("#panel-groups th:not([aria-sort=none])").count()


def test_a_table_that_goes_on_sideways_says_so(demo: Built, open_page: OpenPage) -> None:
    """That of stops does on a laptop; that of lineage fits there, and does not on a phone."""
    page = open_page(demo.path)
    tables = page.locator("#panel-stops .table")
    stops = tables.filter(has=page.get_by_text("Stops", exact=True)).locator(".cut")
    lineage = tables.filter(has=page.get_by_text("Lineage", exact=True)).locator(".cut")
    stops.wait_for(state="visible")

    lineage.wait_for(state="hidden")
    page.set_viewport_size({"width": 390, "height": 900})
    lineage.wait_for(state="visible")
    page.set_viewport_size({"width": 1280, "height": 900})
    lineage.wait_for(state="hidden")


def test_a_long_table_shows_its_head_until_asked(demo: Built, page: Page) -> None:
    """And shows it again."""
    table = attempts(page)
    button = table.locator(".more button")
    short = table.locator("tbody tr").count()
    button.click()
    assert len(demo.overview.slow.attempts.attempts) == table.locator("tbody tr").count() > short
    button.click()
    assert short == table.locator("tbody tr").count()


def test_copy_gives_all_rows_with_raw_values(demo: Built, page: Page) -> None:
    """As lines of fields between tabs, in the order shown, with the names of the fields on top."""
    table = attempts(page)
    # What it says stands there for a moment only, which can be over before anybody looks.
    table.locator(".copied").evaluate(
        """(copied) => new MutationObserver(() => { window.said = (window.said || "") + copied.textContent; })
        .observe(copied, { childList: true })"""
    )
    table.locator("button", has_text="copy").click()
    until(page, "window.said && window.said.includes('rows copied')")
    lines = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").splitlines()]
    records = demo.overview.slow.attempts.attempts

    assert len(records) + 1 == len(lines)
    assert [pytest.approx(record.seconds) for record in records] == [
        float(fields[lines[0].index("seconds")]) for fields in lines[1:]
    ]


def test_every_table_has_a_name_and_headed_columns(page: Page) -> None:
    """A caption; a scope for each heading; and its region can be scrolled with the keyboard."""
    tables = page.locator("main table").all()

    assert 15 <= len(tables)
    for table in tables:
        assert (table.locator("caption span").first.text_content() or "").strip()
        assert {"col"} == {head.get_attribute("scope") for head in table.locator("th").all()}
        assert all(button.get_attribute("aria-label") for button in table.locator("th button").all())
    assert len(tables) == page.locator(".scroll[tabindex='0'][aria-label]").count()
