"""Packs bars into lanes so that no two bars of a lane overlap."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from heapq import heappop, heappush


def pack_lanes(starts: Sequence[float], ends: Sequence[float]) -> array[int]:
    """The lane of each bar: the lowest one that is free when the bar begins.

    Args:
        starts: Where each bar begins, never decreasing.
        ends: Where it ends, not before it begins; a bar may begin where another one of its lane ends.

    Returns:
        Lanes from 0, as many in all as bars are open at once.
    """
    lanes = array("i")
    free: list[int] = []
    taken: list[tuple[float, int]] = []
    for start, end in zip(starts, ends, strict=True):
        while taken and taken[0][0] <= start:
            heappush(free, heappop(taken)[1])
        lane = heappop(free) if free else len(taken)
        heappush(taken, (end, lane))
        lanes.append(lane)
    return lanes
