"""Warnings to the host's log that cannot flood it."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Final

logger = logging.getLogger("rtrace_otel")

INTERVAL_S: Final = 60.0


class HostWarnings:
    """At most one log warning per minute and process; those held back are counted in the next one.

    Only background threads and ``close`` use it, never the thread that emits: a slow handler must not delay the host.
    """

    def __init__(self) -> None:
        """Begin with the right to warn."""
        self._next = 0.0
        self._held_back = 0

    def warn(self, message: str) -> None:
        """Log the message, or count it if the last one is less than a minute old."""
        now = time.monotonic()
        if now < self._next:
            self._held_back += 1
            return
        more = f" ({self._held_back} more warnings since the last one)" if self._held_back else ""
        self._next = now + INTERVAL_S
        self._held_back = 0
        with suppress(BaseException):  # a handler of the host may raise anything
            logger.warning("%s%s", message, more)


HOST_WARNINGS: Final = HostWarnings()
"""The one of this process: it is the host that must not be flooded, however many recorders are in trouble."""
