"""Which attempt a model call belongs to."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Final

SEPARATORS: Final = ":./#-_"
"""What may stand between an attempt's id and the rest of a call's id."""


def attempt_of_call(call: Sequence[Any], attempts: Container[str]) -> str | None:
    """The attempt of a call.

    Args:
        call: An entry of ``weight_sync.calls``: call id, tokens so far, and the attempt's id if the recorder gives it.
        attempts: Ids of the attempts in question.

    Returns:
        The third entry; else the call's own id, or its head before a separator, if that is one of the attempts.
    """
    if len(call) > 2 and str(call[2]) in attempts:
        return str(call[2])
    call_id = str(call[0])
    if call_id in attempts:
        return call_id
    for place in range(len(call_id) - 1, 0, -1):
        if call_id[place] in SEPARATORS and call_id[:place] in attempts:
            return call_id[:place]
    return None
