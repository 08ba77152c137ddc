"""What a page that follows a file is sent, as server-sent events."""

from __future__ import annotations

import json

from rtrace_otel.report.html.live import Told


def events_since(told: Told, seen: Told | None, epoch: str, version: int) -> str:
    """The events that bring a page up to date; empty if it is.

    Args:
        told: What is told now.
        seen: What was told to the page over this stream; ``None`` at its begin.
        epoch: Who told the page what it has.
        version: Number of the update that the page has.
    """
    text = ""
    if told.version and (told.epoch, told.version) != (epoch, version):
        text += event_of("parts", told.since(epoch, version))
    if told.state and (seen is None or seen.state != told.state):
        text += event_of("state", json.dumps(told.state))
    return text


def event_of(name: str, data: str) -> str:
    """One event; without a name a comment, which only shows that the stream is alive. The data is one line."""
    return f"event: {name}\ndata: {data}\n\n" if name else ": still here\n\n"
