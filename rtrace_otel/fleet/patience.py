"""How long a store is waited for, and what is said of one that does not answer or refuses."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from rtrace_otel.errors import TraceFileError

PATIENCE_S: Final = 30.0
"""Longest wait for an answer of a store, unless the user says otherwise."""

LISTING: Final = 5
"""So many times as long may the listing of a folder take, which is many answers."""

AT_ONCE: Final = 16
"""Requests to a store that run at the same time, at most, while it is searched."""

MAX_SAID: Final = 500
"""Characters of a store's own words that are kept."""

REPLACED: Final = "it was replaced while it was read; read it again"

_SILENCE: Final = ("Timeout", "Connect")
"""In the names of what the clients of stores raise when nobody answers."""

_MISSING: Final = (404, 410)
"""Status of an answer that means that there is no such file."""

_REFUSED: Final = (401, 403)

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class StoreError(Exception):
    """What a store did, in words of this package."""


class StoreSilentError(StoreError):
    """It did not answer in time."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for one answer.

    Attributes:
        seconds: So long.
    """

    seconds: float = PATIENCE_S

    @property
    def for_listing(self) -> Patience:
        """The same for a listing."""
        return Patience(self.seconds * LISTING)

    def left(self, since: float) -> float:
        """Seconds to wait for what was asked at a time of the monotonic clock; some are left in any case.

        This process may have been too busy itself to notice the answer.
        """
        return max(since + self.seconds - time.monotonic(), self.seconds / 10)

    def ended(self) -> StoreSilentError:
        """What to say of a store that did not answer."""
        return StoreSilentError(f"the store gave no usable answer within {self.seconds:g} s")

    def within(self, act: Callable[[], _Answer]) -> _Answer:
        """What ``act`` gives.

        Raises:
            StoreSilentError: It takes longer; it goes on in a thread that nobody waits for.
            Exception: What it raises.
        """
        for _, answer in self.each(lambda _: act(), [None]):
            if isinstance(answer, Exception):
                raise answer
            return answer
        raise self.ended()

    def each(
        self, act: Callable[[_Item], _Answer], items: Sequence[_Item]
    ) -> Iterator[tuple[int, _Answer | Exception]]:
        """What comes of each item, several at a time, in the order in which they are ready.

        Args:
            act: Called in threads.
            items: What it is called with.

        Yields:
            Place in ``items``, and what came of it or what was raised: for those that nothing came of,
            :class:`StoreSilentError`, as soon as none of them is ready in time.
        """
        answers: queue.Queue[tuple[int, _Answer | Exception]] = queue.Queue()
        waiting = deque(enumerate(items))

        def work() -> None:
            while True:
                try:
                    place, item = waiting.popleft()
                except IndexError:
                    return
                try:
                    answers.put((place, act(item)))
                except Exception as error:
                    answers.put((place, error))

        for _ in range(min(AT_ONCE, len(items))):
            threading.Thread(target=work, daemon=True).start()
        missing = set(range(len(items)))
        while missing:
            try:
                place, answer = answers.get(timeout=self.seconds)
            except queue.Empty:
                waiting.clear()
                yield from ((place, self.ended()) for place in sorted(missing))
                return
            missing.discard(place)
            yield place, answer


def is_silence(error: BaseException) -> bool:
    """Whether nobody answered, as opposed to an answer that is a refusal."""
    error = _meant(error)
    return isinstance(error, StoreSilentError) or any(
        word in kind.__name__ for kind in type(error).__mro__ for word in _SILENCE
    )


def is_missing(error: BaseException) -> bool:
    """Whether a store said that there is no such thing."""
    return isinstance(_meant(error), FileNotFoundError)


def is_refusal(error: BaseException) -> bool:
    """Whether a store said that this is not allowed."""
    forbidden = isinstance(error, OSError) and str(error).startswith("Forbidden")
    status = error.status if hasattr(error, "status") else getattr(error, "code", None)
    return isinstance(error, PermissionError) or forbidden or status in _REFUSED


def said(error: BaseException) -> str:
    """What is told to people of an error that opening, reading or listing raised."""
    error = _meant(error)
    if isinstance(error, TraceFileError):
        return error.problem
    # The system's own errors have a number before their text; those that clients derive have a text of their own.
    text = error.strerror if isinstance(error, OSError) and type(error).__module__ == "builtins" else None
    text = " ".join((text or str(error)).split()).lstrip(", ")[:MAX_SAID]
    if isinstance(error, StoreError):
        return text
    if type(error).__name__ == "FileExpired":  # s3fs asks for each part only of the object that it began with
        return REPLACED
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if is_refusal(error):
        return f"no permission: {text}"
    if type(error) is OSError:
        return f"the store said: {text}"
    return f"{type(error).__name__}: {text}"


def _meant(error: BaseException) -> BaseException:
    """The error itself; or what it hides: over HTTP, whatever goes wrong is raised as a file that is not there."""
    cause = error.__cause__
    if not isinstance(error, FileNotFoundError) or cause is None:
        return error
    return cause if is_silence(cause) or getattr(cause, "status", 404) not in _MISSING else error
