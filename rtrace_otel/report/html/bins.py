"""Neighbouring steps put together where a chart would have more of them than it can show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

MAX_BINS: Final = 2_000
"""Points that a chart has where there are too many steps for one each."""

BINNED_ABOVE: Final = 5_000
"""Steps that a chart shows one by one."""

_Item = TypeVar("_Item")


def bins(items: Sequence[_Item]) -> list[Sequence[_Item]]:
    """The items one by one, or in neighbourhoods of equal size if there are too many."""
    size = bin_size(len(items))
    return [items[start : start + size] for start in range(0, len(items), size)]


def bin_size(count: int) -> int:
    """How many items one point of a chart stands for."""
    return 1 if count <= BINNED_ABOVE else -(-count // MAX_BINS)


def known(values: Iterable[float | None]) -> Iterator[float]:
    """The values that are known."""
    return (value for value in values if value is not None)
