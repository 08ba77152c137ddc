"""Values of one piece take their natural JSON form."""

from __future__ import annotations

import datetime
import enum
import uuid
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

from rtrace_otel.record.plain import to_plain
from tests.record.written import emitted


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Mode(enum.StrEnum):
    FAST = "fast"


class Flags(enum.Flag):
    A = 1
    B = 2


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "a disguise"


class Count(int):
    def __int__(self) -> int:
        return -1


class Share(float):
    def __float__(self) -> float:
        return -1.0


class TensorScalar:
    """Looks like a zero-dimensional torch tensor, which is not installed here."""

    dtype = "torch.float32"
    shape = ()
    device = "cpu"
    requires_grad = False

    def __init__(self, value: object) -> None:
        self._value = value

    def item(self) -> object:
        return self._value


NOON = datetime.datetime(2026, 3, 1, 12, 30, 5, 250_000, tzinfo=datetime.UTC)
ID = uuid.UUID("12345678-1234-5678-1234-567812345678")

SCALARS: dict[str, tuple[Any, Any]] = {
    "none": (None, None),
    "true": (True, True),
    "int": (-7, -7),
    "zero": (0, 0),
    "float": (0.25, 0.25),
    "text": ("é\u2028\x00", "é\u2028\x00"),
    "nan": (float("nan"), "NaN"),
    "infinity": (float("inf"), "Infinity"),
    "minus infinity": (float("-inf"), "-Infinity"),
    "numpy bool": (np.bool_(True), True),
    "numpy int64": (np.int64(-5), -5),
    "numpy uint64": (np.uint64(2**64 - 1), 2**64 - 1),
    "numpy float64": (np.float64(0.5), 0.5),
    "numpy float32": (np.float32(0.5), 0.5),
    "numpy float16": (np.float16(0.5), 0.5),
    "numpy nan": (np.float64("nan"), "NaN"),
    "numpy float32 infinity": (np.float32("-inf"), "-Infinity"),
    "numpy text": (np.str_("x"), "x"),
    "numpy 0-d array": (np.array(4), 4),
    "numpy date": (np.datetime64("2026-03-01"), "2026-03-01"),
    "tensor int": (TensorScalar(4), 4),
    "tensor nan": (TensorScalar(float("nan")), "NaN"),
    "tensor of numpy": (TensorScalar(np.float32(0.5)), 0.5),
    "uuid": (ID, str(ID)),
    "path": (Path("/a/b"), "/a/b"),
    "pure path": (PurePosixPath("a"), "a"),
    "datetime": (NOON, "2026-03-01T12:30:05.250000+00:00"),
    "naive datetime": (NOON.replace(tzinfo=None), "2026-03-01T12:30:05.250000"),
    "date": (NOON.date(), "2026-03-01"),
    "time": (NOON.time(), "12:30:05.250000"),
    "timedelta": (datetime.timedelta(minutes=1, milliseconds=500), 60.5),
    "enum": (Colour.RED, "red"),
    "int enum": (Level.HIGH, 3),
    "str enum": (Mode.FAST, "fast"),
    "flag": (Flags.A | Flags.B, 3),
    "decimal": (Decimal("1.50"), "1.50"),
    "decimal nan": (Decimal("nan"), "NaN"),
    "bytes": (b"abc", "abc"),
    "bytearray": (bytearray(b"abc"), "abc"),
    "memoryview": (memoryview(b"abc"), "abc"),
    "bytes that are no text": (b"a\xff", "a\ufffd"),
    "str subclass": (Text("real"), "real"),
    "int subclass": (Count(5), 5),
    "float subclass": (Share(0.5), 0.5),
    "nan subclass": (Share("nan"), "NaN"),
}


@pytest.mark.parametrize(("value", "expected"), SCALARS.values(), ids=SCALARS)
def test_natural_form(value: Any, expected: Any) -> None:
    """Each kind of value becomes its natural JSON form, in the exact JSON type."""
    plain = to_plain(value)

    assert (expected, type(expected)) == (plain, type(plain))


def test_natural_forms_in_the_file(file: Path) -> None:
    """All of them in one row of a file read back by strict JSON decoders."""
    assert {name: expected for name, (_, expected) in SCALARS.items()} == emitted(
        file, **{name: value for name, (value, _) in SCALARS.items()}
    )


def test_every_kind_of_numpy_number_is_a_number(file: Path) -> None:
    """No numpy number, of whatever width, is written as text."""
    kinds = "bhilqBHILQefdg"

    assert dict.fromkeys(kinds, 2) == emitted(file, **{kind: np.dtype(kind).type(2) for kind in kinds})


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**64, 10**30, -(2**63) - 1, -(10**30)])
def test_integer_beyond_64_bits(file: Path, value: int) -> None:
    """An integer that no machine word holds is still written digit by digit."""
    assert {"n": value} == emitted(file, n=value)


def test_integer_too_long_for_a_decoder_does_not_cost_the_other_fields(file: Path) -> None:
    """Python refuses to print more than 4,300 digits; the row keeps its other fields."""
    row = emitted(file, n=10**5000, kept="yes", nested=[1, 10**5000, 2])

    assert ("yes", ["n", "kept", "nested"]) == (row["kept"], list(row))
    assert [1, 2] == row["nested"][::2]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("\ud800", "\ufffd"), ("a\udfffb", "a\ufffdb"), ("\ud83d\ude00", "\ufffd\ufffd"), ("\ud800" * 3, "\ufffd" * 3)],
)
def test_lone_surrogate_is_replaced(file: Path, value: str, expected: str) -> None:
    """A surrogate, which UTF-8 cannot hold, is replaced in values, in keys, and in names; the rest stays."""
    row = emitted(file, **{"v": value, "nested": {value: [value]}, value: 1, "kept": "é"})

    assert {"v": expected, "nested": {expected: [expected]}, expected: 1, "kept": "é"} == row
