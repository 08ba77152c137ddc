"""Texts that a renderer may obey instead of show, and a trace that has one wherever a report repeats the file."""

from __future__ import annotations

from typing import Final

from rtrace_otel.events import Row
from tests.report.history import (
    abandoned,
    dispatched,
    ended,
    event,
    published,
    refit,
    resumed,
    started,
    trace,
    trained,
)  # fmt: skip

HOSTILE: Final = {
    "escape codes": "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "C1 codes": "\x9b31mred\x9c",
    "bell and NUL": "a\x07\x00\x08b",
    "direction": "a\u202eb\u2066c",
    "line ends": "a\nb\r\nc\rd\u2028e\x85f",
    "tab": "a\tb",
    "rich markup": "[red]x[/red] [bold",
    "pipes": "a|b\\|c||",
    "HTML": "<b>x</b><script>",
    "entities": "&lt;b&gt; &amp; &#65;",
    "emphasis": "*a* _b_ **c** __d__ ~~e~~",
    "code": "`a` ``b``",
    "links": "[a](http://x) ![b](y) <http://z>",
    "headings": "# a",
    "backslashes": "a\\b\\",
    "emoji code": ":warning:",
    "very long": "x" * 5000,
    "wide": "組" * 40,
}
"""By what they are."""


def hostile_trace(text: str) -> list[Row]:
    """A trace with the text as run id, reason, level, host, checkpoint and event name."""
    one, two = f"{text[:40]}1", f"{text[:40]}2"
    return trace(
        started(one, host=text),
        refit(one, 4, 5, ("c", 50)),
        *(dispatched(one, name) for name in "xyz"),
        abandoned(one, "x", text),
        event(one, "group_discarded", group_id=text, reason=text),
        event(one, text),
        started(two, host=text),
        event(two, "checkpoint_restored", checkpoint_id=text, step=1),
        resumed(two, "y", text),
        published(two, text, {4: 200}, ("c", 4, 200)),
        trained(two, 6, 6, text, logged=9.0),
        ended(two, text),
    )
