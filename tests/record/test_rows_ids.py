"""Ids of any type are written as text, in every place of the vocabulary where an id may stand."""

from __future__ import annotations

import enum
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rtrace_otel.events import FIELD_TYPES
from rtrace_otel.fields import FieldType
from rtrace_otel.record.trace import RolloutTrace
from tests.record.written import emitted, recorded


class Kind(enum.IntEnum):
    TRAIN = 7


ID = uuid.UUID("12345678-1234-5678-1234-567812345678")

IDS: dict[str, tuple[Any, str]] = {
    "text": ("g-1", "g-1"),
    "empty": ("", ""),
    "int": (5, "5"),
    "zero": (0, "0"),
    "negative": (-3, "-3"),
    "large": (10**30, str(10**30)),
    "uuid": (ID, str(ID)),
    "numpy int": (np.int64(5), "5"),
    "numpy text": (np.str_("g"), "g"),
    "float": (1.5, "1.5"),
    "bool": (True, "True"),
    "bytes": (b"g", "g"),
    "enum": (Kind.TRAIN, "7"),
    "path": (Path("/a"), "/a"),
    "tuple": ((1, "a"), "[1, 'a']"),
    "nan": (float("nan"), "NaN"),
    "surrogate": ("g\ud800", "g\ufffd"),
}
ID_FIELDS = [name for name, kind in FIELD_TYPES.items() if kind is FieldType.ID and name != "run"]


@pytest.mark.parametrize(("value", "expected"), IDS.values(), ids=IDS)
def test_in_every_id_field(file: Path, value: Any, expected: str) -> None:
    """``emit`` writes the same text for the same id in each field that holds one."""
    assert dict.fromkeys(ID_FIELDS, expected) == emitted(file, **dict.fromkeys(ID_FIELDS, value))


@pytest.mark.parametrize(("value", "expected"), IDS.values(), ids=IDS)
def test_in_lists(file: Path, value: Any, expected: str) -> None:
    """Lists of ids and the first column of calls hold texts; the other columns stay numbers."""
    assert {
        "group_ids": [expected, "x"],
        "groups": [expected],
        "calls": [[expected, 3], ["x", 4]],
        "call_versions": [[expected, 0, 3]],
    } == emitted(
        file,
        group_ids=[value, "x"],
        groups=(value,),
        calls=[(value, 3), ["x", np.int64(4)]],
        call_versions=[[value, 0, np.int32(3)]],
    )


@pytest.mark.parametrize(("value", "expected"), IDS.values(), ids=IDS)
def test_in_typed_methods(file: Path, value: Any, expected: str) -> None:
    """The typed methods write the same text, positional and in ``extra``."""

    def act(trace: RolloutTrace) -> None:
        trace.attempt_dispatched(value, value, value, 0, extra={"origin_run": value, "groups": [value]})
        trace.train_step(1, 2, (value,))
        trace.weight_sync(1, 2, [(value, 3)])
        trace.group_published(value, {0: 5}, [(value, 0, 3)])

    assert [
        {
            "event": "attempt_dispatched",
            "group_id": expected,
            "attempt_id": expected,
            "prompt_id": expected,
            "generation_index": 0,
            "origin_run": expected,
            "groups": [expected],
        },
        {"event": "train_step", "step": 1, "trained_version": 2, "group_ids": [expected]},
        {"event": "weight_sync", "replaced_version": 1, "new_version": 2, "calls": [[expected, 3]]},
        {
            "event": "group_published",
            "group_id": expected,
            "tokens_by_version": {"0": 5},
            "call_versions": [[expected, 0, 3]],
        },
    ] == recorded(file, act)


@pytest.mark.parametrize(
    "value", [np.array([7, 8]), {7, 8}, (7, 8), [np.int64(7), np.int32(8)], frozenset({7, 8}), np.array(["7", "8"])]
)
def test_lists_of_ids_of_any_kind(file: Path, value: Any) -> None:
    """An array, a set or a tuple of ids is a list of texts, however it is emitted."""

    def act(trace: RolloutTrace) -> None:
        trace.emit("train_step", group_ids=value)
        trace.train_step(1, 2, value)

    emit, typed = recorded(file, act)

    assert (["7", "8"], ["7", "8"]) == (sorted(emit["group_ids"]), sorted(typed["group_ids"]))


@pytest.mark.parametrize("value", [np.array([7]), [7], {7}, (7,)])
def test_list_of_one_id_is_a_list(file: Path, value: Any) -> None:
    """A step that trained on one group still has a list of groups."""
    assert {"group_ids": ["7"]} == emitted(file, group_ids=value)


def test_long_id_is_whole(file: Path) -> None:
    """An id is never clipped, or two would become one."""
    long = "g" * 5000

    assert {"group_id": long, "group_ids": [long]} == emitted(file, group_id=long, group_ids=[long])
