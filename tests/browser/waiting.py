"""Waiting for what a page does in its own time; the policy of our pages forbids Playwright's own way, which is eval."""

from __future__ import annotations

import time
from typing import Final

from playwright.sync_api import Error, Page

STEP_S: Final = 90.0
"""The slowest step of a busy machine takes a tenth of it."""

STEP_MS: Final = 1000 * STEP_S
_FRAMES: Final = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def until(page: Page, condition: str, told: str = "document.title") -> None:
    """Wait until a JavaScript expression holds, in the page that is there by then.

    Args:
        page: Any page; it may be on its way to another one.
        condition: What must become true.
        told: What to evaluate for the message if it does not.
    """
    deadline = time.monotonic() + STEP_S
    while not _holds(page, condition):
        assert time.monotonic() < deadline, (condition, page.evaluate(told))
        page.wait_for_timeout(25)


def _holds(page: Page, condition: str) -> bool:
    try:
        return bool(page.evaluate(f"Boolean({condition})"))
    except Error as error:
        # The page that was asked has gone; the next one is on its way.
        if "context was destroyed" in error.message or "navigat" in error.message:
            return False
        raise


def settled(page: Page) -> None:
    """Wait until the page has drawn two frames: what hands did before that is shown."""
    page.evaluate(_FRAMES)
