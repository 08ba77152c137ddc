"""A good file, damaged at random: no damage makes reading fail, hides a loss, or makes rows up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.dialect import is_event, to_vocabulary
from rtrace_otel.events import Row
from tests.analysis.rows import read, report_of, row, text

GOOD: list[Row] = [
    row(0, event="run_started", schema=1, host="höst", pid=7),
    row(1, event="group_reserved", group_id="8d1f-22", prompt_id="17", generations=2),
    row(2, event="weight_sync", replaced_version=3, new_version=4, calls=[["c-1", 40], ["c-2", 0]]),
    row(0, "b", "run_started", schema=1, host="h", pid=8, config={"lr": 1e-6, "tags": ["x", "{", '"']}),
    row(3, event="attempt_abandoned", attempt_id="a\n1", reason='he said: "{"'),
    row(1, "b", "my_event", text="}{][", nested={"deep": [{"er": None}]}, big=10**40),
    row(4, event="train_step", step=5, trained_version=4, group_ids=["8d1f-22"], batch_age=0.25),
    row(5, event="run_ended", reason="closed"),
]
DATA = b"".join(text(found) + b"\n" for found in GOOD)
PLACES = st.integers(0, len(DATA))


def _cut(data: bytes, at: int, _: int) -> bytes:
    return data[:at]


def _remove(data: bytes, at: int, to: int) -> bytes:
    return data[: min(at, to)] + data[max(at, to) :]


def _double(data: bytes, at: int, to: int) -> bytes:
    return data[: max(at, to)] + data[min(at, to) :]


def _splice_in(data: bytes, at: int, to: int) -> bytes:
    return data[:at] + DATA[to : to + 60] + data[at:]


def _nul(data: bytes, at: int, count: int) -> bytes:
    return data[:at] + b"\0" * (count % 40) + data[at:]


def _flip(data: bytes, at: int, mask: int) -> bytes:
    if at >= len(data):
        return data
    byte = data[at] ^ (mask % 255 + 1)
    return data[:at] + bytes([byte or 1]) + data[at + 1 :]


def _join(data: bytes, at: int, _: int) -> bytes:
    end = data.find(b"\n", at)
    return data if end < 0 else data[:end] + data[end + 1 :]


def _break(data: bytes, at: int, kind: int) -> bytes:
    return data[:at] + (b"\n", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xc3")[kind % 5] + data[at:]


def _overwrite(data: bytes, at: int, count: int) -> bytes:
    gone = data[at : at + count % 300]
    return data[:at] + b"\0" * len(gone) + data[at + len(gone) :]


HURTS = st.tuples(
    st.sampled_from([_cut, _remove, _double, _splice_in, _nul, _flip, _flip, _join, _break]), PLACES, PLACES
)


def _hurt(data: bytes, hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]]) -> bytes:
    for hurt, at, other in hurts:
        data = hurt(data, at, other)
    return data


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _standing_in(data: bytes) -> set[str]:
    """Every object whose whole text stands somewhere in the file, as a reader gives it."""
    found: set[str] = set()
    decoder = json.JSONDecoder()
    for line in data.split(b"\n"):
        shown = line.decode("utf-8", "replace")
        for at in (n for n, sign in enumerate(shown) if sign == "{"):
            try:
                value = decoder.raw_decode(shown, at)[0]
            except ValueError:
                continue
            foreign = is_event(value) and type(value.get("seq")) is not int
            found.add(_canonical(to_vocabulary(value) if foreign else value))
    return found


def _check(damaged: bytes, *, also: frozenset[str] = frozenset()) -> None:
    rows, report = read(damaged)
    given_rows = [_canonical(found) for found in rows]
    good = {text(found): _canonical(found) for found in GOOD}
    physical = damaged.split(b"\n")[:-1] if damaged.endswith(b"\n") else damaged.split(b"\n")
    whole = [good[line] for line in physical if line in good]

    remaining = iter(given_rows)
    assert all(line in remaining for line in whole), "a row on an undamaged line is missing, or out of order"
    assert set(given_rows) <= {*good.values(), *_standing_in(damaged), *also}, "a row that was never whole"

    assert (len(rows), len(rows)) == (report.rows, sum(report.runs.values()))
    assert (len(physical) if damaged else 0) == report.lines
    if report.intact:
        assert len(rows) == sum(1 for line in physical if line.strip()), "a loss without a word"
        for run in report.runs:
            numbers = [found["seq"] for found in rows if found["run"] == run and type(found.get("seq")) is int]
            assert list(range(len(numbers))) == numbers, "a gap without a word"
    blamed = {damage.line for damage in report.damages if damage.kind is not DamageKind.BAD_FIELD}
    assert not {line for line in blamed if physical[line - 1] in good}, "a whole line is called damaged"


@settings(max_examples=400, deadline=None)
@given(st.lists(HURTS, min_size=1, max_size=4))
def test_random_damage_is_survived_and_reported(
    hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]],
) -> None:
    """Whole lines all arrive in order, nothing is made up, and what is missing shows in the report."""
    damaged = _hurt(DATA, hurts)
    # NUL was put in here, not in place of something: whether such a row can be saved is not this test's business.
    _check(damaged, also=frozenset(_standing_in(damaged.replace(b"\0", b""))))


@settings(max_examples=200, deadline=None)
@given(PLACES, PLACES)
def test_a_lost_block_is_survived_and_reported(at: int, count: int) -> None:
    """The same where a file system left NUL instead of what was written."""
    _check(_overwrite(DATA, at, count))


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda text: text.encode())).filter(
        lambda data: not data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))  # the marks of gzip and zstd
    )
)
def test_any_bytes_at_all_are_survived(data: bytes) -> None:
    """A file of something else gives no row, or what stands in it."""
    _check(data)


@settings(max_examples=100, deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20,
))  # fmt: skip
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    """The fast path alters nothing that JSON can hold, and finds no fault in it."""
    rows = [row(0, value=value)]

    assert (rows, report_of(rows)) == read(json.dumps(rows[0]).encode() + b"\n")
