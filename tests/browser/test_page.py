"""The page as a whole: it opens from a file, asks for nothing, shows what it must, and runs only what is its own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from rtrace_otel.report.restore_words import verdict
from tests.browser.conftest import OpenPage
from tests.browser.pages import Built, build_rows
from tests.browser.waiting import STEP_MS

EVIL = "</script><img src=x onerror=\"document.title='owned'\"><!--\u2028"


def test_it_opens_without_asking_for_anything(demo: Built, open_page: OpenPage) -> None:
    """The verdict of the restore analysis stands on top; the fixture sees every request and complaint."""
    page = open_page(demo.path)

    assert verdict(demo.overview.restores) == page.locator(".verdict p").first.text_content()


def test_the_contents_lead_to_every_section(demo: Built, open_page: OpenPage) -> None:
    """The list of contents names the sections in their order, and each link has its target."""
    page = open_page(demo.path)
    headings = page.locator("main > .section h2").all_text_contents()

    assert headings == page.locator("#contents a").all_text_contents()
    for link in page.locator("#contents a").all():
        assert 1 == page.locator(str(link.get_attribute("href"))).count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_takes_the_colours_of_the_system(demo: Built, open_page: OpenPage, scheme: str) -> None:
    """Dark paper is dark, light paper is light, and the button changes it."""
    page = open_page(demo.path, color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 21, 26)"}

    assert colours[scheme] == page.evaluate(paper)
    page.click("#theme")
    other = "dark" if scheme == "light" else "light"
    assert colours[other] == page.evaluate(paper)
    assert str(other == "dark").lower() == page.get_attribute("#theme", "aria-pressed")


def test_the_policy_is_in_force(demo: Built, browser: Browser) -> None:
    """A script, a handler, a picture and a request that are not the page's own: the browser lets none of them go."""
    page = browser.new_page()
    page.set_default_timeout(STEP_MS)
    page.goto(demo.path.as_uri())
    page.wait_for_selector("html[data-ready]")
    with socket.create_server(("127.0.0.1", 0)) as server:
        page.evaluate(
            """async address => {
              const script = document.createElement("script");
              script.textContent = "window.owned = 1";
              document.body.append(script);
              const image = document.createElement("img");
              image.setAttribute("onerror", "window.owned = 2");
              image.src = `${address}x.png`;
              document.body.append(image);
              await fetch(address).catch(() => {});
            }""",
            f"http://127.0.0.1:{server.getsockname()[1]}/",
        )
        page.wait_for_timeout(300)
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()

    assert page.evaluate("window.owned") is None
    page.close()


def test_without_scripts_there_are_words(demo: Built, browser: Browser) -> None:
    """The verdict, and why there is nothing more."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(demo.path.as_uri())

    assert verdict(demo.overview.restores) == page.locator(".verdict p").first.text_content()
    assert "need JavaScript" in (page.locator("noscript").text_content() or "")
    context.close()


def test_a_browser_that_cannot_unpack_says_so(demo: Built, browser: Browser) -> None:
    """The verdict is there, and what is wrong."""
    context = browser.new_context()
    context.set_default_timeout(STEP_MS)
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(demo.path.as_uri())
    page.locator("#problem").wait_for(state="visible")

    assert page.locator(".verdict p").first.is_visible()
    context.close()


def test_new_data_are_drawn_in_place(demo: Built, open_page: OpenPage) -> None:
    """A page that follows a file draws again: the same panels in the same order, once each."""
    page = open_page(demo.path)
    panels = "[...document.querySelectorAll('[data-panel]')].map(panel => panel.dataset.panel)"
    before, canvases = page.evaluate(panels), page.locator("canvas").count()
    page.evaluate("rtrace.draw(rtrace.data)")
    page.evaluate("rtrace.draw(rtrace.data)")

    assert before == page.evaluate(panels)
    assert canvases == page.locator("canvas").count()


def test_what_a_trace_smuggles_in_is_text(tmp_path: Path, open_page: OpenPage) -> None:
    """Ids, reasons, hosts and names of events that look like HTML are shown as they are, and run nowhere."""
    rows = [
        {"event": "run_started", "t": 0.0, "run": EVIL, "seq": 0, "schema": 1, "host": EVIL, "pid": 1},
        {"event": "group_reserved", "t": 1.0, "run": EVIL, "seq": 1, "group_id": EVIL, "prompt_id": EVIL},
        {
            "event": "attempt_dispatched",
            "t": 2.0,
            "run": EVIL,
            "seq": 2,
            "group_id": EVIL,
            "attempt_id": EVIL,
            "prompt_id": EVIL,
            "generation_index": 0,
        },
        {"event": "attempt_abandoned", "t": 9.0, "run": EVIL, "seq": 3, "attempt_id": EVIL, "reason": EVIL},
        {"event": "group_discarded", "t": 9.5, "run": EVIL, "seq": 4, "group_id": EVIL, "reason": EVIL},
        {"event": EVIL, "t": 9.6, "run": EVIL, "seq": 5},
        {"event": "run_ended", "t": 9.7, "run": EVIL, "seq": 6, "reason": EVIL},
    ]
    page = open_page(build_rows(rows, tmp_path).path)

    assert 0 == page.locator("img").count()
    assert page.title().startswith("Rollouts of ")
    assert EVIL[:9] in (page.locator("main").text_content() or "")
