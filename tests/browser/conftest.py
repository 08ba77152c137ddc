"""A browser, and pages in it that must behave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from rtrace_otel.testing import SimulationSettings, simulate
from tests.browser.pages import DEMO, Built, build, build_rows
from tests.browser.waiting import STEP_MS
from tests.servers import need_browser

ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
BIG: Final = SimulationSettings(
    steps=745, stops=3, groups_per_step=16, open_groups=48, generations=8, prompts=5_000, epochs=100
)
"""A job of 99,997 attempts."""

OpenPage: TypeAlias = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this folder; the event loop that drives it ends with them."""
    program = need_browser()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(program), args=list(ARGUMENTS), timeout=STEP_MS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """A function that opens a file of a page in a context of its own, and waits until it is drawn.

    The test fails if a page asked for anything but its own file, or if its console says anything.
    """
    problems: list[str] = []
    contexts = []

    def open_page(path: Path, fragment: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(STEP_MS)
        contexts.append(context)
        page = context.new_page()
        url = path.as_uri()

        def asked(request: Request) -> None:
            if request.url.split("#")[0] != url and not request.url.startswith("data:"):
                problems.append(f"request: {request.url}")

        page.on("request", asked)
        page.on("console", lambda message: problems.append(f"console: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.goto(url + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [] == problems


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must talk to nobody but its own server, and must complain of nothing but that this has gone."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(STEP_MS)
    page = context.new_page()
    problems: list[str] = []
    hosts: set[str] = set()
    page.on("console", lambda message: problems.append(f"console: {message.type}: {message.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    yield page
    context.close()
    assert [] == [problem for problem in problems if "net::ERR_" not in problem]
    assert 1 == len(hosts - {""})


@pytest.fixture(scope="package")
def big(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The page of a simulated job of a hundred thousand attempts with three stops."""
    return build_rows(simulate(BIG).iter_rows(), tmp_path_factory.mktemp("big"))


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The page of the stored demo."""
    return build(DEMO, tmp_path_factory.mktemp("demo"))
