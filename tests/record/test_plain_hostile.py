"""Values that misbehave cost nobody anything: not the caller, not their row, not its neighbours."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.record.written import emitted, recorded

MAX_TEXT = 400
"""Generous against the product's own limit: what matters is that a text is clipped at all."""


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class NoText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no str")

    __repr__ = __hash__ = __eq__ = None  # type: ignore[assignment]


class ReprOfWrongType:
    def __repr__(self) -> str:
        return 5  # type: ignore[return-value]


class LongRepr:
    def __repr__(self) -> str:
        return "x" * 10_000_000


class SurrogateRepr:
    def __repr__(self) -> str:
        return "\ud800"


class NoItem:
    dtype = "float32"
    shape = ()

    def item(self) -> NoReturn:
        raise RuntimeError("CUDA error: device-side assert triggered")


class EndlessItem:
    dtype = "float32"
    shape = ()

    def item(self) -> EndlessItem:
        return self


class NoShape:
    dtype = "float32"

    @property
    def shape(self) -> NoReturn:
        raise RuntimeError("no shape")


class NoAttributes:
    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)


class NoClass:
    @property  # type: ignore[misc]
    def __class__(self) -> type[NoClass]:
        raise RuntimeError("unbound proxy")


class SaysList:
    """A proxy or a mock: claims to be a list and cannot be copied."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return list

    def copy(self) -> NoReturn:
        raise RuntimeError("no copy")


class NoIteration(list[int]):
    def __iter__(self) -> Iterator[int]:
        raise RuntimeError("no iteration")


class NoItems(dict[str, int]):
    def items(self) -> NoReturn:
        raise RuntimeError("no items")


class NoTruth:
    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class UnhashableClass(type):
    """As some metaclasses of symbolic algebra and of object mappers do."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        return cls is other


class OfUnhashableClass(metaclass=UnhashableClass):
    pass


class RaisesCancelled:
    """``CancelledError`` is no ``Exception``."""

    def __repr__(self) -> str:
        raise asyncio.CancelledError


HOSTILE: dict[str, Callable[[], Any]] = {
    "no repr": NoRepr,
    "no str": lambda: NoText("x"),
    "repr of wrong type": ReprOfWrongType,
    "long repr": LongRepr,
    "surrogate repr": SurrogateRepr,
    "no item()": NoItem,
    "endless item()": EndlessItem,
    "no shape": NoShape,
    "no attributes": NoAttributes,
    "no __class__": NoClass,
    "claims to be a list": SaysList,
    "no iteration": lambda: NoIteration([1]),
    "no items()": lambda: NoItems(a=1),
    "no truth": NoTruth,
    "unhashable class": OfUnhashableClass,
    "repr raises CancelledError": RaisesCancelled,
    "generator": lambda: (n for n in range(3)),
    "endless iterator": itertools.count,
    "numpy array": lambda: np.array([1, 2]),
    "object": object,
    "class": lambda: int,
    "lambda": lambda: lambda: None,
    "complex": lambda: 1j,
    "ellipsis": lambda: ...,
    "open file": lambda: Path(__file__).open,
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_row_and_neighbours_survive(file: Path, make: Callable[[], Any]) -> None:
    """The row keeps its other fields, also those next to the value in a list, and the neighbours are whole."""
    row = emitted(file, first=1, odd=make(), inside=["left", make(), "right"], last="end")

    assert ["first", "odd", "inside", "last"] == list(row)
    assert (1, "end", "left", "right") == (row["first"], row["last"], row["inside"][0], row["inside"][2])


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_typed_method_survives(file: Path, make: Callable[[], Any]) -> None:
    """A typed method takes it as an id, as a number, and as a field of the user, and never raises."""

    def act(trace: RolloutTrace) -> None:
        trace.attempt_sealed("before")
        trace.attempt_sealed(make(), make(), extra={"mine": make(), "kept": 1})
        trace.attempt_sealed("after")

    before, odd, after = recorded(file, act)

    assert ("before", "after", 1) == (before["attempt_id"], after["attempt_id"], odd["kept"])
    assert ["event", "attempt_id", "tokens", "mine", "kept"] == list(odd)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_extra_may_be_anything(file: Path, make: Callable[[], Any]) -> None:
    """Fields of the user that are no mapping, not even true or false, do not raise and do not cost the row."""

    def act(trace: RolloutTrace) -> None:
        trace.attempt_sealed("before")
        trace.attempt_sealed("odd", 5, extra=make())
        trace.attempt_sealed("after")

    rows = recorded(file, act)

    assert [("before", None), ("odd", 5), ("after", None)] == [(row["attempt_id"], row.get("tokens")) for row in rows]


@pytest.mark.parametrize("make", [v for k, v in HOSTILE.items() if k != "endless iterator"])
def test_list_field_may_be_anything(file: Path, make: Callable[[], Any]) -> None:
    """A list or an object of the vocabulary that is none, or cannot be copied, does not raise or cost the row."""

    def act(trace: RolloutTrace) -> None:
        trace.train_step(1, 2, make())
        trace.weight_sync(1, 2, make())
        trace.group_published("g", make(), make())

    step, sync, published = recorded(file, act)

    assert (["event", "step", "trained_version", "group_ids"], 1) == (list(step), step["step"])
    assert (["event", "replaced_version", "new_version", "calls"], 1) == (list(sync), sync["replaced_version"])
    assert (["event", "group_id", "tokens_by_version", "call_versions"], "g") == (
        list(published),
        published["group_id"],
    )


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_name_of_event_may_be_anything(file: Path, make: Callable[[], Any]) -> None:
    """An event that is no text costs neither its fields nor the rows around it."""

    def act(trace: RolloutTrace) -> None:
        trace.emit("before")
        trace.emit(make(), kept=1)
        trace.emit("after")

    before, odd, after = recorded(file, act)

    assert (("before", 1, "after"), str) == ((before["event"], odd["kept"], after["event"]), type(odd["event"]))


@pytest.mark.parametrize("make", [LongRepr, type("T", (), {"__repr__": lambda _: "é" * 99_999})])
def test_long_repr_is_clipped(file: Path, make: Callable[[], Any]) -> None:
    """What has no JSON form is written as a text of bounded length."""
    row = emitted(file, odd=make())

    assert MAX_TEXT > len(row["odd"]) > 0
