"""What tests of the timeline ask a page, and do to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page

CANVAS = "canvas.tl-lanes"

LONGEST_S = 60.0
"""The slowest thing that a page does on a busy machine takes a tenth of it."""


def state(page: Page) -> dict[str, Any]:
    """What is drawn, as the page tells it."""
    found: dict[str, Any] = page.evaluate("rtrace.panels.timeline.state()")
    return found


def places_of(page: Page, rows: Sequence[int]) -> list[tuple[float, float]]:
    """Where the middles of attempts are drawn: in CSS pixels from the corner of the canvas."""
    now = state(page)
    found = page.evaluate(
        """(rows) => { const model = rtrace.timeline.build(rtrace.data);
        return rows.map((row) => [(model.start[row] + model.end[row]) / 2, model.lane[row]]); }""",
        list(rows),
    )
    box, span = now["box"], now["to"] - now["from"]
    return [
        (
            box["x"] + box["width"] * (middle - now["from"]) / span,
            box["y"] + box["height"] * (lane + 0.4 - now["top"]) / now["shownLanes"],
        )
        for middle, lane in found
    ]


def move_to(page: Page, x: float, y: float) -> None:
    """Put the pointer on a place of the canvas, in CSS pixels from its corner."""
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag from one place of the canvas to another."""
    move_to(page, *start)
    page.mouse.down()
    move_to(page, *end)
    page.mouse.up()


def press(page: Page, *keys: str) -> None:
    """Press keys while the canvas has the focus."""
    page.focus(CANVAS)
    for key in keys:
        page.keyboard.press(key)


def until(page: Page, expression: str) -> None:
    """Wait until a JavaScript expression holds; the policy of the page forbids Playwright's own way to do that."""
    deadline = time.monotonic() + LONGEST_S
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(25)
