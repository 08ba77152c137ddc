"""The picture of the job over time does what pointer, wheel and keys want, and tells what they point at."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from rtrace_otel.analysis.timeline.states import State
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built
from tests.browser.timeline import CANVAS, drag, move_to, places_of, press, state
from tests.browser.waiting import settled, until


def test_zoom_by_keys_and_buttons(demo: Built, open_page: OpenPage) -> None:
    """Plus shows half as much again, minus undoes it, 0 shows all; only what is in view is drawn."""
    page, found = open_page(demo.path), demo.overview.timeline
    span = state(page)["span"]
    press(page, "+", "+")
    near = state(page)
    origin = found.start or 0.0
    inside = sum(
        start - origin <= near["to"] and end - origin >= near["from"]
        for start, end in zip(found.attempts.start, found.attempts.end, strict=True)
    )

    assert near["to"] - near["from"] == pytest.approx(span / 1.5**2)
    assert inside == near["inView"] < found.attempts_shown
    press(page, "-", "-")
    assert state(page)["wholeView"]
    page.click("text=+")
    assert state(page)["to"] - state(page)["from"] == pytest.approx(span / 2)
    press(page, "0")
    assert state(page)["wholeView"]


def test_the_wheel_zooms_once_the_picture_has_the_focus(demo: Built, open_page: OpenPage) -> None:
    """Before that it scrolls the page. The moment under the pointer stays there."""
    page = open_page(demo.path)
    box = state(page)["box"]
    page.locator(CANVAS).scroll_into_view_if_needed()
    move_to(page, box["x"] + box["width"] / 4, box["y"] + 10)
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 80)
    until(page, f"scrollY > {before}")
    stand_still(page)
    assert state(page)["wholeView"]
    page.focus(CANVAS)
    move_to(page, box["x"] + box["width"] / 4, box["y"] + 120)
    page.mouse.wheel(0, -300)
    until(page, "!rtrace.panels.timeline.state().wholeView")
    now = state(page)

    assert now["from"] + (now["to"] - now["from"]) / 4 == pytest.approx(now["span"] / 4, rel=0.01)


def stand_still(page: Page) -> None:
    """Wait until the page does not scroll any more: it may do so smoothly."""
    at = None
    while at != (at := page.evaluate("scrollY")):
        settled(page)


def test_drags(demo: Built, open_page: OpenPage) -> None:
    """On the whole job a drag zooms to its range; then it moves the picture; with Shift it zooms again."""
    page = open_page(demo.path)
    page.locator(CANVAS).scroll_into_view_if_needed()
    now = state(page)
    box, span = now["box"], now["span"]
    drag(page, (box["x"] + box["width"] * 0.25, box["y"] + 50), (box["x"] + box["width"] * 0.75, box["y"] + 60))
    half = state(page)
    assert (half["from"], half["to"]) == (pytest.approx(span / 4, rel=0.01), pytest.approx(3 * span / 4, rel=0.01))

    drag(page, (box["x"] + 200, box["y"] + 50), (box["x"] + 200 + box["width"] / 4, box["y"] + 50))
    moved = state(page)
    assert moved["from"] == pytest.approx(span / 8, rel=0.02)
    assert moved["to"] - moved["from"] == pytest.approx(half["to"] - half["from"])

    page.keyboard.down("Shift")
    drag(page, (box["x"], box["y"] + 50), (box["x"] + box["width"] / 2, box["y"] + 50))
    assert state(page)["to"] - state(page)["from"] == pytest.approx(span / 4, rel=0.02)


def test_arrows_move_and_stop_at_the_ends(demo: Built, open_page: OpenPage) -> None:
    """A fifth of the view each time; lanes move when they are zoomed."""
    page = open_page(demo.path)
    press(page, "+", "+", "+", "Home")
    first = state(page)
    press(page, "ArrowRight")
    assert state(page)["from"] == pytest.approx(first["from"] + 0.2 * (first["to"] - first["from"]))
    press(page, "ArrowLeft", "ArrowLeft")
    assert 0 == state(page)["from"]
    press(page, "End")
    assert state(page)["to"] == pytest.approx(first["span"])
    press(page, "Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp")
    few = state(page)
    assert few["bottom"] - few["top"] < few["lanes"]
    press(page, "ArrowDown")
    assert state(page)["top"] > few["top"]


def test_the_pointer_tells_ids_and_numbers(demo: Built, open_page: OpenPage) -> None:
    """Of an attempt, and of the step in the strip above."""
    page, found = open_page(demo.path), demo.overview.timeline
    page.locator(CANVAS).scroll_into_view_if_needed()
    row = next(row for row in range(found.attempts_shown) if found.state(row) is State.ABANDONED)
    move_to(page, *places_of(page, [row])[0])
    text = page.inner_text(".tl-hint")

    assert row == state(page)["hovered"]
    columns = found.attempts
    assert found.tables.reasons[columns.reason[row]] in text
    assert found.tables.groups[columns.group[row]] in text
    assert columns.attempt_id[row] in text
    strip = next(strip for strip in state(page)["strips"] if strip["name"] == "steps")
    step = next(band for band in found.bands.steps if band.step == 6 and band.finished)
    now = state(page)
    middle = ((step.start + step.end) / 2 - (found.start or 0)) / now["span"]
    move_to(page, now["box"]["x"] + now["box"]["width"] * middle, strip["y"] + 5)
    assert page.inner_text(".tl-hint").startswith("step 6 of run")
    assert f"{step.batch_age:.3f}" in page.inner_text(".tl-hint")


def test_a_click_tells_the_whole_story(demo: Built, open_page: OpenPage) -> None:
    """The attempt, its group, and the same prompt and generation in all runs; Escape closes it."""
    page, found = open_page(demo.path), demo.overview.timeline
    page.locator(CANVAS).scroll_into_view_if_needed()
    columns = found.attempts
    row = next(row for row in range(found.attempts_shown) if found.state(row) is State.RESUMED)
    move_to(page, *places_of(page, [row])[0])
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector(".tl-story:not([hidden])")
    text = page.inner_text(".tl-story")
    siblings, history = page.locator(".tl-others").all()
    rows, where = range(len(columns)), (columns.prompt[row], columns.generation[row])
    same_group = [other for other in rows if columns.group[other] == columns.group[row]]
    same_prompt = [other for other in rows if (columns.prompt[other], columns.generation[other]) == where]

    assert row == state(page)["selectedRow"]
    assert columns.attempt_id[row] in text
    assert "a stop took it, and a later run went on with part of its work" in text
    assert len(same_group) == siblings.locator("li").count()
    assert len(same_prompt) == history.locator("li").count() > 1
    history.locator("button").last.click()
    assert same_prompt[-1] == state(page)["selectedRow"]
    press(page, "Escape")
    assert (-1, None) == (state(page)["selectedRow"], state(page)["selected"])
    page.wait_for_selector(".tl-story", state="hidden")


def test_selecting_without_a_mouse(demo: Built, open_page: OpenPage) -> None:
    """Enter takes the attempt in the middle, n and p the next and the previous, Enter again goes into its story."""
    page = open_page(demo.path)
    press(page, "Enter")
    first = state(page)["selectedRow"]
    press(page, "n")
    assert first + 1 == state(page)["selectedRow"]
    press(page, "p", "p")
    assert first - 1 == state(page)["selectedRow"]
    press(page, "Enter")
    assert page.evaluate("document.activeElement.classList.contains('tl-story')")
    assert "Timeline of 421 attempts in 48 lanes" in (page.get_attribute(CANVAS, "aria-label") or "")


def test_buttons_of_the_story(demo: Built, open_page: OpenPage) -> None:
    """One zooms to the attempt, one shows only its prompt."""
    page, found = open_page(demo.path), demo.overview.timeline
    press(page, "Enter")
    page.click("text=zoom to it")
    now = state(page)
    start = found.attempts.start[now["selectedRow"]] - (found.start or 0)
    assert now["from"] < start < now["to"] < now["span"]
    page.click("text=only this prompt")
    prompt = found.tables.prompts[found.attempts.prompt[now["selectedRow"]]]
    assert f"prompt:{prompt}" == state(page)["query"]
    assert list(found.attempts.prompt).count(found.attempts.prompt[now["selectedRow"]]) == state(page)["matching"]


def test_new_data_leaves_hands_alone(demo: Built, open_page: OpenPage) -> None:
    """A page that follows a file draws again: focus, filter, range, selection and the open table stay."""
    page = open_page(demo.path)
    page.click("text=Attempts in view as a table")
    page.fill('input[type="search"]', "prompt:18")
    press(page, "+", "Enter")
    before = state(page)
    page.evaluate("rtrace.draw({...rtrace.data})")
    after = state(page)

    kept = ("from", "to", "query", "matching", "selected", "selectedRow", "drawn")
    assert {name: before[name] for name in kept} == {name: after[name] for name in kept}
    assert page.evaluate("document.activeElement.matches('canvas.tl-lanes')")
    assert "prompt:18" == page.input_value('#panel-timeline input[type="search"]')
    assert page.locator("#panel-timeline tbody tr").count() > 0


def test_a_page_that_shows_the_whole_job_goes_on_to_show_all_of_it(demo: Built, open_page: OpenPage) -> None:
    """As the job grows."""
    page = open_page(demo.path)
    page.evaluate(
        """(() => { const data = structuredClone(rtrace.data);
        data.doc.results.timeline.end += 5; rtrace.draw(data); })()"""
    )
    found = demo.overview.timeline

    assert state(page)["to"] == pytest.approx((found.end or 0) - (found.start or 0) + 5)
    assert state(page)["wholeView"]
