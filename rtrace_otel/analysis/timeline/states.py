"""What a bar of the timeline stands for: how an attempt ended, and what a stop made of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from rtrace_otel.analysis.flow.records import Outcome
from rtrace_otel.analysis.ledger.work import Fate


class State(StrEnum):
    """How an attempt stands at the end of the file.

    ``trained``: sealed, and a step trained its group. ``sealed``: sealed, and its group is neither trained nor
    discarded so far. ``kept``: a stop took it, and a later run kept its result. ``discarded``: sealed, and its run
    discarded its group. ``abandoned``: it ended without a result. ``interrupted``: it was open when its run stopped.
    ``resumed``: a stop took it, and a later run went on with part of its work. ``lost``: it was sealed, a stop took it,
    and its result has not come back. ``open``: no row has ended it, and its run was not stopped.
    """

    TRAINED = "trained"
    SEALED = "sealed"
    KEPT = "kept"
    DISCARDED = "discarded"
    ABANDONED = "abandoned"
    INTERRUPTED = "interrupted"
    RESUMED = "resumed"
    LOST = "lost"
    OPEN = "open"


STATES: Final = tuple(State)
"""The states; the columns of the timeline hold a state's place in it."""

FATES: Final = tuple(Fate)
"""The fates of what stops took; the columns hold a fate's place in it, or -1."""


def state_of(outcome: Outcome, group: Outcome | None, trained: bool, fate: Fate | None) -> State:
    """The state of an attempt.

    Args:
        outcome: How it ended within its run.
        group: How its group did, if that is known.
        trained: Whether a step trained its result in this run.
        fate: What became of it, if a stop took it.
    """
    if outcome is Outcome.ABANDONED:
        return State.ABANDONED
    if fate is Fate.REUSED:
        return State.KEPT
    if fate is Fate.RESUMED:
        return State.RESUMED
    if outcome is Outcome.SEALED:
        if fate is not None:
            return State.LOST
        if trained:
            return State.TRAINED
        return State.DISCARDED if group is Outcome.DISCARDED else State.SEALED
    return State.INTERRUPTED if fate is not None or outcome is Outcome.INTERRUPTED else State.OPEN
