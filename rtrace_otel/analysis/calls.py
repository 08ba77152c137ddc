"""Which rollout attempt a model call of a refit row belongs to."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Any, Final

from rtrace_otel.analysis.checked import amount

_SEPARATOR: Final = re.compile(r"[:./#_-]")
_LAST: Final = re.compile(r".*[:./#_-].", re.DOTALL)
"""Up to the last separator that is not the end, and the character after it."""

_MAX_ID: Final = 256
"""Longer ids name no attempt by their head: looking at every head of a long text would take a long time."""


def attempt_of_call(call: Sequence[Any], attempts: Container[str]) -> str | None:
    """The attempt that made a call, if the call says so.

    It does if its id is that of an attempt, if its third column is, or if its id is that of an attempt followed by one
    of ``: . / # - _`` and more.

    Args:
        call: ``[call_id, tokens, ...]``, not empty.
        attempts: Ids of the attempts that can have made it.
    """
    call_id = str(call[0])
    if call_id in attempts:
        return call_id
    if len(call) > 2 and str(call[2]) in attempts:
        return str(call[2])
    if len(call_id) > _MAX_ID:
        return None
    head, _, tail = call_id.rpartition(":")
    if tail.isalnum() and head in attempts:  # as nearly all do
        return head
    last = _LAST.match(call_id)
    if last is None:
        return None
    head = call_id[: last.end() - 2]
    if head in attempts:
        return head
    heads = [head[: found.start()] for found in _SEPARATOR.finditer(head)]
    return next((head for head in reversed(heads) if head in attempts), None)


def paused_attempts(calls: Any, attempts: Container[str]) -> Iterator[tuple[str, int]]:
    """The attempts that a refit paused, each once, with the tokens that its paused calls had at least.

    Args:
        calls: The field ``calls`` of a ``weight_sync`` row, whatever it is.
        attempts: Ids of the attempts that are open.
    """
    found: dict[str, int] = {}
    for call in calls if isinstance(calls, (list, tuple)) else ():
        if isinstance(call, (list, tuple)) and call:
            attempt_id = attempt_of_call(call, attempts)
            if attempt_id is not None:
                tokens = amount(call[1]) if len(call) > 1 else None
                found[attempt_id] = found.get(attempt_id, 0) + (tokens or 0)
    yield from found.items()
