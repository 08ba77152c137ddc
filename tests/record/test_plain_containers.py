"""Values that hold others: lists, mappings, sets, dataclasses, arrays."""

from __future__ import annotations

import collections
import dataclasses
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from rtrace_otel.record.plain import to_plain
from tests.record.written import emitted


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Reward:
    value: float
    parts: dict[str, float]
    where: Path | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    inner: Reward


class ReadOnly(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return {"a": 1, "b": 2}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("a", "b"))

    def __len__(self) -> int:
        return 2


class Tensor:
    """Looks like a torch tensor, which is not installed here."""

    dtype = "torch.int64"

    def __init__(self, rows: list[Any], shape: tuple[int, ...]) -> None:
        self._rows = rows
        self.shape = shape

    def item(self) -> object:
        raise RuntimeError("a Tensor with 4 elements cannot be converted to Scalar")

    def tolist(self) -> list[Any]:
        return self._rows


NAN, INFINITY = float("nan"), float("inf")

CONTAINERS: dict[str, tuple[Any, Any]] = {
    "list": ([1, "a", None, True], [1, "a", None, True]),
    "tuple": ((1, (2,)), [1, [2]]),
    "empty": ([(), {}, [], set()], [[], {}, [], []]),
    "named tuple": (Point(1, NAN), [1, "NaN"]),
    "dict": ({"a": {"b": [NAN, INFINITY, -INFINITY]}}, {"a": {"b": ["NaN", "Infinity", "-Infinity"]}}),
    "int keys": ({0: 5, -1: 6}, {"0": 5, "-1": 6}),
    "numpy keys": ({np.int64(3): 1}, {"3": 1}),
    "float keys": ({0.5: 1, NAN: 2}, {"0.5": 1, "NaN": 2}),
    "tuple keys": ({(1, "a"): 2}, {"[1, 'a']": 2}),
    "ordered dict": (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    "default dict": (collections.defaultdict(int, a=1), {"a": 1}),
    "counter": (collections.Counter("aab"), {"a": 2, "b": 1}),
    "chain map": (collections.ChainMap({"a": 1}, {"a": 2}), {"a": 1}),
    "mapping proxy": (types.MappingProxyType({"a": 1}), {"a": 1}),
    "user mapping": (ReadOnly(), {"a": 1, "b": 2}),
    "user dict": (collections.UserDict({"a": 1}), {"a": 1}),
    "set": ({3, 1, 2}, [1, 2, 3]),
    "frozen set": (frozenset({"b", "a"}), ["a", "b"]),
    "dataclass": (Reward(INFINITY, {"a": 0.5}), {"value": "Infinity", "parts": {"a": 0.5}, "where": None}),
    "nested dataclass": (
        [Frozen(Reward(1.0, {}, Path("/a")))],
        [{"inner": {"value": 1.0, "parts": {}, "where": "/a"}}],
    ),
    "numpy array": (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    "numpy float array": (np.array([0.5, NAN]), [0.5, "NaN"]),
    "numpy empty array": (np.array([]), []),
    "numpy text array": (np.array(["a", "b"]), ["a", "b"]),
    "numpy object array": (np.array([{"a": NAN}, None], dtype=object), [{"a": "NaN"}, None]),
    "numpy array of one": (np.array([7]), [7]),
    "numpy 1 x 1 array": (np.array([[7]]), [[7]]),
    "tensor": (Tensor([[1, 2], [3, 4]], (2, 2)), [[1, 2], [3, 4]]),
    "numpy in list": ([np.int64(1), {"a": np.float32(0.5)}], [1, {"a": 0.5}]),
}


@pytest.mark.parametrize(("value", "expected"), CONTAINERS.values(), ids=CONTAINERS)
def test_natural_form(value: Any, expected: Any) -> None:
    """Each container becomes a list or an object, of exactly the values that it holds."""
    assert expected == to_plain(value)


def test_natural_forms_in_the_file(file: Path) -> None:
    """All of them in one row of a file read back by strict JSON decoders."""
    assert {name: expected for name, (_, expected) in CONTAINERS.items()} == emitted(
        file, **{name: value for name, (value, _) in CONTAINERS.items()}
    )


def test_key_order_is_kept(file: Path) -> None:
    """The keys of a mapping stand in its own order."""
    assert ["z", "a", "m"] == list(emitted(file, value={"z": 1, "a": 2, "m": 3})["value"])


def test_equal_sets_give_equal_bytes() -> None:
    """A set is written in an order that does not depend on how it was made."""
    one_way: set[int] = set()
    other_way: set[int] = set()
    for n in range(0, 1 << 16, 1 << 10):  # numbers that share a place in a small hash table
        one_way.add(n)
    for n in range((1 << 16) - (1 << 10), -1, -(1 << 10)):
        other_way.add(n)

    assert to_plain(one_way) == to_plain(other_way)


def test_mixed_set(file: Path) -> None:
    """A set of kinds that cannot be compared is written all the same."""
    members = emitted(file, value={1, "a", None, 2.5, (1, 2)})["value"]

    assert 5 == len(members)
    assert all(member in members for member in [1, "a", None, 2.5, [1, 2]])


def test_deep_nesting_is_clipped_but_keeps_its_row(file: Path) -> None:
    """A value nested a hundred thousand deep ends in a clipped text instead of a crash."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    row = emitted(file, deep=deep, kept=1)

    assert (["deep", "kept"], 1) == (list(row), row["kept"])


def test_ordinary_nesting_is_not_clipped(file: Path) -> None:
    """Eight levels, more than a job's settings have, are written in full."""
    value: Any = 1
    for _ in range(4):
        value = {"a": [value]}

    assert {"value": value} == emitted(file, value=value)
