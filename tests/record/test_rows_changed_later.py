"""What the caller does with its lists and dicts after ``emit`` does not change the row."""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.record.hold import HeldClock
from tests.record.written import event_rows, without_stamps


class OwnList(list[Any]):
    pass


LISTS: dict[str, Callable[[list[Any]], Any]] = {"list": list, "subclass": OwnList}
DICTS: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "dict": dict,
    "ordered dict": collections.OrderedDict,
    "default dict": lambda items: collections.defaultdict(int, items),
    "counter": collections.Counter,
}


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_list_changed_after_emit(file: Path, make: Callable[[list[Any]], Any]) -> None:
    """A list that is cleared after ``emit`` stands in the row as it was, also an empty one that grows."""
    clock = HeldClock()
    with RolloutTrace(file, clock=lambda: clock) as trace:
        groups, empty = make(["a", "b"]), make([])
        trace.emit("mine", groups=groups, other=groups, empty=empty)
        trace.train_step(1, 2, groups)
        trace.attempt_sealed("a", extra={"mine": groups})
        groups.clear()
        empty.append(1)
        clock.release()

    emit, step, sealed = without_stamps(event_rows(file))
    assert {"event": "mine", "groups": ["a", "b"], "other": ["a", "b"], "empty": []} == emit
    assert (["a", "b"], ["a", "b"]) == (step["group_ids"], sealed["mine"])


@pytest.mark.parametrize("make", DICTS.values(), ids=DICTS)
def test_dict_changed_after_emit(file: Path, make: Callable[[dict[Any, Any]], Any]) -> None:
    """A dict that is cleared after ``emit`` stands in the row as it was, also an empty one that grows."""
    clock = HeldClock()
    with RolloutTrace(file, clock=lambda: clock) as trace:
        counts, empty = make({0: 5}), make({})
        trace.emit("mine", tokens_by_version=counts, other=counts, empty=empty)
        trace.group_published("g", counts)
        trace.attempt_sealed("a", extra={"mine": counts})
        counts.clear()
        empty[1] = 1
        clock.release()

    emit, published, sealed = without_stamps(event_rows(file))
    assert {"event": "mine", "tokens_by_version": {"0": 5}, "other": {"0": 5}, "empty": {}} == emit
    assert ({"0": 5}, {"0": 5}) == (published["tokens_by_version"], sealed["mine"])


def test_calls_changed_after_emit(file: Path) -> None:
    """The list of calls is copied by the typed methods, whatever its kind."""
    clock = HeldClock()
    with RolloutTrace(file, clock=lambda: clock) as trace:
        calls = collections.deque([("c", 1)])
        trace.weight_sync(1, 2, calls)
        calls.append(("d", 2))
        clock.release()

    assert [[["c", 1]]] == [row["calls"] for row in event_rows(file)]


def test_extra_changed_after_emit(file: Path) -> None:
    """The dict of the user's own fields may be used again for the next call."""
    clock = HeldClock()
    extra: dict[str, Any] = {}
    with RolloutTrace(file, clock=lambda: clock) as trace:
        for n in range(3):
            extra["n"] = n
            trace.attempt_sealed("a", extra=extra)
        extra.clear()
        clock.release()

    assert [0, 1, 2] == [row["n"] for row in event_rows(file)]


def test_fields_given_as_a_dict(file: Path) -> None:
    """``emit(**fields)`` does not keep the caller's dict."""
    clock = HeldClock()
    fields = {"n": 1}
    with RolloutTrace(file, clock=lambda: clock) as trace:
        trace.emit("mine", **fields)
        fields["n"] = 2
        clock.release()

    assert [1] == [row["n"] for row in event_rows(file)]


def test_generator_of_ids_is_used_up_once(file: Path) -> None:
    """A generator is a list to the typed methods, which may be asked for any iterable."""
    with RolloutTrace(file) as trace:
        trace.train_step(1, 2, (f"g{n}" for n in range(3)))

    assert [["g0", "g1", "g2"]] == [row["group_ids"] for row in event_rows(file)]
