"""Columns come back as they were: exact, in whole units, or unknown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.report.html.columns import floats, numbers, pack, pack_json, texts
from tests.report.html.packed import unpacked, unpacked_json


def test_whole_numbers_take_as_few_bytes_as_their_range_needs() -> None:
    """0 stands for unknown, so a byte holds 255 different numbers, wherever they begin."""
    widths = [
        numbers([base, base + span]).header["width"] for base in (-7, 10**12) for span in (254, 255, 65534, 65535)
    ]

    assert [1, 2, 2, 4] * 2 == widths


def test_a_column_by_hand() -> None:
    """From 5 to 7: stored as 1, 0 for unknown, and 3."""
    column = numbers([5, None, 7])

    assert (b"\x01\x00\x03", 5, 1.0) == (column.planes, column.header["base"], column.header["unit"])


def test_bytes_lie_in_planes() -> None:
    """0 and 513 are stored as 1 and 514 = 0x0202: the low bytes first, then the high ones."""
    assert b"\x01\x02\x00\x02" == numbers([0, 513]).planes


@pytest.mark.parametrize("value", [2**53 + 1, 1e300, -1e300], ids=repr)
def test_what_is_too_large_for_whole_units_is_stored_as_it_is(value: float) -> None:
    """Without a loss beyond that of a float, whatever the unit."""
    for unit in (1.0, 0.001):
        assert [float(value), 1.0] == unpacked(pack({"x": numbers([value, 1], unit=unit)}))["x"]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, 10**400])
def test_what_is_no_number_is_unknown(value: float | None) -> None:
    """Neither kind of column holds it."""
    assert {"x": [None, 1], "y": [None, 1.5]} == unpacked(pack({"x": numbers([value, 1]), "y": floats([value, 1.5])}))


@given(st.lists(st.none() | st.integers(-(2**70), 2**70)))
def test_whole_numbers_come_back(values: list[int | None]) -> None:
    """Exactly, as far as floats can hold them."""
    assert [None if v is None else float(v) for v in values] == unpacked(pack({"x": numbers(values)}))["x"]


@given(st.lists(st.none() | st.floats(-1e9, 1e9)), st.sampled_from([0.001, 0.5, 1.0, 60.0]))
def test_numbers_come_back_within_half_a_unit(values: list[float | None], unit: float) -> None:
    """Rounded to the nearest multiple."""
    for given_value, found in zip(values, unpacked(pack({"x": numbers(values, unit)}))["x"], strict=True):
        assert (given_value is None) == (found is None)
        assert given_value is None or abs(given_value - found) <= unit * (0.5 + 1e-6)


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False)))
def test_floats_come_back(values: list[float | None]) -> None:
    """Bit by bit."""
    assert values == unpacked(pack({"x": floats(values)}))["x"]


@given(st.lists(st.none() | st.text(st.characters(codec=None))))
def test_texts_come_back(values: list[str | None]) -> None:
    """Also lone surrogates; each text is stored once."""
    column = texts(values)

    assert len(set(values) - {None}) == len(column.header["texts"])
    assert values == unpacked(pack({"x": column}))["x"]


def test_texts_are_shown_once_each() -> None:
    """Two different ones, each shown once."""
    seen: list[str] = []

    def show(text: str) -> str:
        seen.append(text)
        return text.upper()

    assert ["A", "B"] == texts(["a", "b", "a"], show).header["texts"]
    assert ["a", "b"] == seen


def test_columns_of_different_lengths_are_no_table() -> None:
    """A table has rows."""
    with pytest.raises(ValueError, match="same length"):
        pack({"x": numbers([1]), "y": numbers([])})
    assert {} == unpacked(pack({}))


def test_the_same_data_give_the_same_bytes() -> None:
    """No time stamp in the gzip."""
    assert pack_json({"a": 1}) == pack_json({"a": 1})
    assert {"a": [None, "\u2028</script>"]} == unpacked_json(pack_json({"a": [None, "\u2028</script>"]}))


def test_json_with_a_number_that_json_does_not_have_is_refused() -> None:
    """The browser could not read it."""
    with pytest.raises(ValueError, match="JSON"):
        pack_json([math.nan])
