"""Files of NeMo RL's own trace are read by whatever names it uses; ours are left alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.batch_age import batch_age_by_step, recomputed_tokens_by_version, tokens_by_version
from rtrace_otel.analysis.reading.dialect import is_event, to_vocabulary
from rtrace_otel.events import EVENTS, EVENTS_BY_NAME, Row
from tests.analysis.rows import lines, read, read_back, report_of, row

HEAD: Row = {"t": 1.5, "run": "n"}
FOREIGN: dict[str, tuple[Row, Row]] = {
    "dispatch": (
        {"event": "dispatch", "group": "g", "attempt_uuid": "a", "prompt_idx": "7", "gen_idx": 1, "start_weight": 3},
        {"event": "attempt_dispatched", "group_id": "g", "attempt_id": "a", "prompt_id": "7", "generation_index": 1,
         "weight_version": 3},
    ),
    "seal of an attempt": (
        {"event": "attempt_seal", "attempt_id": "a", "output_tokens": 9, "reward": 1.0, "mask_sample": False},
        {"event": "attempt_sealed", "attempt_id": "a", "tokens": 9, "reward": 1.0, "masked": False},
    ),
    "refusal": (
        {"event": "Attempt Refusal", "attempt_id": "a"}, {"event": "attempt_refused", "attempt_id": "a"}
    ),
    "abandonment": (
        {"event": "attempt-abandonment", "attempt_id": "a", "reason": "RolloutTimeout"},
        {"event": "attempt_abandoned", "attempt_id": "a", "reason": "RolloutTimeout"},
    ),
    "resume": (
        {"event": "resume", "attempt_id": "a", "granularity": "turn", "prev_attempt_id": "b"},
        {"event": "attempt_resumed", "attempt_id": "a", "level": "turn", "previous_attempt_id": "b"},
    ),
    "reservation": (
        {"event": "group_reservation", "group_id": "g", "prompt_id": "7", "expected_generations": 4},
        {"event": "group_reserved", "group_id": "g", "prompt_id": "7", "generations": 4},
    ),
    "admission": (
        {"event": "group.admission", "group_id": "g", "target_step": 4, "start_weight_version": 3},
        {"event": "group_admitted", "group_id": "g", "target_step": 4, "weight_version": 3},
    ),
    "discard": (
        {"event": "discard", "group_id": "g", "cause": "stale"},
        {"event": "group_discarded", "group_id": "g", "reason": "stale"},
    ),
    "training step": (
        {"event": "training_step", "iteration": 8, "version_during_step": 7, "groups": ["g", "h"], "chunks": 2},
        {"event": "train_step", "step": 8, "trained_version": 7, "group_ids": ["g", "h"], "chunks": 2},
    ),
    "refit": (
        {"event": "refit", "old_version": 3, "version": 4, "running_calls": [["c", 40]], "duration": 0.5},
        {"event": "weight_sync", "replaced_version": 3, "new_version": 4, "calls": [["c", 40]], "seconds": 0.5},
    ),
    "checkpoint": (
        {"event": "snapshot_published", "path": "s_1", "step": 8, "kind": "snapshot", "group_ids": ["g"]},
        {"event": "checkpoint_published", "checkpoint_id": "s_1", "step": 8, "kind": "snapshot", "groups": ["g"]},
    ),
    "restore": (
        {"event": "restored", "checkpoint": "s_1", "step": 8, "elapsed": 1.0},
        {"event": "checkpoint_restored", "checkpoint_id": "s_1", "step": 8, "seconds": 1.0},
    ),
    "already ours": (
        {"event": "group_sealed", "group_id": "g", "tokens_by_version": {"3": 4}, "min_version": 3},
        {"event": "group_sealed", "group_id": "g", "tokens_by_version": {3: 4}, "min_version": 3},
    ),
    "unknown": ({"event": "gpu_poll", "group": "g", "path": "p"}, {"event": "gpu_poll", "group": "g", "path": "p"}),
}  # fmt: skip


@pytest.mark.parametrize("case", FOREIGN)
def test_a_row_without_seq_is_given_in_our_vocabulary(case: str) -> None:
    """Variants of event and field names are replaced, everything else is kept, and it is no damage."""
    foreign, ours = FOREIGN[case]
    rows, report = read(lines(HEAD | foreign))

    assert [HEAD | ours] == rows
    assert report_of(rows) == report


@pytest.mark.parametrize("event_key", ["event", "name", "type", "kind", "event_type"])
@pytest.mark.parametrize("time_key", ["t", "time", "ts", "timestamp"])
@pytest.mark.parametrize("run_key", ["run", "run_id"])
def test_the_three_fields_of_every_row_go_by_several_names(event_key: str, time_key: str, run_key: str) -> None:
    """A time, a run and an event name are enough for a row, and they come first."""
    rows, _ = read(lines({time_key: 2, "group_id": "g", run_key: 7, event_key: "admit"}))

    assert [{"event": "group_admitted", "t": 2, "run": "7", "group_id": "g"}] == rows
    assert ["event", "t", "run", "group_id"] == list(rows[0])


@pytest.mark.parametrize("case", FOREIGN)
def test_our_own_rows_are_never_renamed(case: str) -> None:
    """A row with a sequence number is ours: a user's event may well be called like another's variant."""
    foreign, _ = FOREIGN[case]
    mine = row(0) | {name: value for name, value in foreign.items() if name != "tokens_by_version"}

    assert [mine] == read_back([mine])


@pytest.mark.parametrize(
    "value",
    [[], "x", 7, None, {}, {"t": 1, "run": "a"}, {"event": "x", "t": 1}, {"event": "x", "run": "a"},
     {"event": 7, "t": 1, "run": "a"}, {"event": "x", "t": "late", "run": "a"}, {"event": "x", "t": 1, "run": None},
     {"event": "x", "t": 1, "run": 7, "seq": 0}, {"event": None, "t": 1, "run": "a", "seq": 0}],
)  # fmt: skip
def test_what_lacks_time_run_or_event_is_no_event(value: Any) -> None:
    """The least that makes a row is what NeMo RL documents for every row."""
    assert not is_event(value)


NAMES = st.sampled_from(
    sorted({name for foreign, ours in FOREIGN.values() for name in (*foreign, *ours)} - {"event", "tokens_by_version"})
)
FOREIGN_ROWS = st.builds(
    lambda event, fields: HEAD | {"event": event} | fields,
    st.sampled_from([*EVENTS_BY_NAME, *(foreign["event"] for foreign, _ in FOREIGN.values())]),
    st.dictionaries(NAMES, st.integers(0, 99), max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(FOREIGN_ROWS)
def test_renaming_loses_no_value_and_ends(foreign: Row) -> None:
    """Whatever the names, every value is kept once, and a renamed row is renamed no further."""
    ours = to_vocabulary(foreign)

    assert _values(foreign) == _values(ours)
    assert ours == to_vocabulary(ours)
    assert is_event(ours)


def _values(found: Row) -> list[str]:
    return sorted(str(value) for name, value in found.items() if name != "event")


@settings(max_examples=100, deadline=None)
@given(FOREIGN_ROWS)
def test_canonical_fields_keep_their_values(foreign: Row) -> None:
    """A variant never takes the place of the field that it is a variant of."""
    ours = to_vocabulary(foreign)
    known = EVENTS_BY_NAME.get(ours["event"])
    kept = [field.name for field in known.fields if field.name in foreign] if known else []

    assert {name: foreign[name] for name in kept} == {name: ours.get(name) for name in kept}


def test_every_event_of_the_vocabulary_is_known_without_seq() -> None:
    """A foreign row that uses our names needs no table."""
    rows = [HEAD | {"event": event.name} for event in EVENTS]

    assert rows == read_back(rows)


def test_a_file_of_nemo_rl_gives_its_batch_ages() -> None:
    """Only published groups have counts there, under string keys, and the seal is the publication."""
    rows = read_back([
        HEAD | {"event": "group_seal", "group_id": "g", "tokens_by_version": {"3": 40, "4": 60}},
        HEAD | {"event": "group_seal", "group_id": "h", "tokens_by_weight_version": {"4": 50}},
        HEAD | {"event": "training_step", "step": 6, "trained_version": 5, "groups": ["g", "h"]},
    ])  # fmt: skip

    assert {"g": {3: 40, 4: 60}, "h": {4: 50}} == tokens_by_version(rows) == recomputed_tokens_by_version(rows)
    assert {6: 5 - 560 / 150} == batch_age_by_step(rows)
