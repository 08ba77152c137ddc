"""Random histories of a job whose rows tell enough for one right answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, Stop, Truth

_STOPS = st.builds(
    Stop,
    at_step=st.integers(0, 6),
    after_rows=st.sampled_from([0, 1, 3, 10, 40, 120]),
    how=st.sampled_from(["kill", "kill", "clean", "drained"]),
    checkpoint=st.sampled_from([0, 0, 0, 1, 2, None]),
    down_s=st.sampled_from([0.0, 30.0, 3000.0]),
    late_row=st.booleans(),
)

LATE_STEP: Final = SimulationSettings(
    seed=17,
    generations=1,
    groups_per_step=1,
    steps=3,
    open_groups=2,
    tokens=3.0,
    refit_every=3,
    checkpoint_every=1,
    stops=(Stop(at_step=2, late_row=True),),
    refusal_rate=0.0,
    error_rate=0.0,
    masked_rate=0.0,
    writes_checkpoint_started=False,
)
"""The killed run's last row, a training step, comes after the next run has brought back the groups that it trained."""


@st.composite
def histories(draw: st.DrawFn) -> SimulationSettings:
    """Settings of a small job with up to four stops; what fails shrinks to few stops and few faults.

    Groups with new ids have their epoch written: without both, two turns of a prompt that are in flight at once cannot
    be told apart in the file.
    """
    groups_per_step = draw(st.integers(1, 4))
    new_group_ids = draw(st.booleans())
    return SimulationSettings(
        seed=draw(st.integers(0, 10_000)),
        prompts=draw(st.sampled_from([64, 10, 3])),
        epochs=20,
        generations=draw(st.integers(1, 4)),
        groups_per_step=groups_per_step,
        steps=draw(st.integers(2, 8)),
        open_groups=groups_per_step * draw(st.integers(1, 3)),
        tokens=draw(st.sampled_from([200.0, 3.0])),
        seconds=draw(st.sampled_from([20.0, 2.0, 60.0])),
        calls=draw(st.integers(1, 3)),
        train_s=draw(st.sampled_from([5.0, 0.5, 15.0])),
        refit_every=draw(st.integers(1, 3)),
        checkpoint_every=draw(st.sampled_from([2, 1, 3, None])),
        checkpoint_s=draw(st.sampled_from([4.0, 0.5, 20.0])),
        stops=tuple(draw(st.lists(_STOPS, max_size=4))),
        keeps=draw(st.sampled_from(["sibling", "turn", "prefix", "group", "nothing"])),
        new_group_ids=new_group_ids,
        version_restarts=draw(st.booleans()),
        refusal_rate=draw(st.sampled_from([0.0, 0.5, 1.0])),
        error_rate=draw(st.sampled_from([0.0, 0.05, 0.4])),
        give_up_after=draw(st.sampled_from([None, 2, 1])),
        masked_rate=draw(st.sampled_from([0.0, 0.05, 0.4])),
        staleness_limit=draw(st.sampled_from([None, 3, 1, 0])),
        replacements=draw(st.booleans()),
        writes_epoch=new_group_ids or draw(st.booleans()),
        writes_checkpoint_started=draw(st.booleans()),
        writes_resumed_dispatch=draw(st.booleans()),
        ending=draw(st.sampled_from(["clean", "killed", "running"])),
    )


def tells_enough(rows: Sequence[Row], truth: Truth) -> bool:
    """Whether the rows say all that the truth is about.

    They do not where a run is stopped before it says what it restored, or before any row names a group that it brought
    back; where a job starts over without a checkpoint after a clean end (that is another job to the reader); and where
    the late row of a killed run is the only sign that it had brought a group back, or had given one up.
    """
    stops = truth.stops
    if any(not stop.is_restored and stop.checkpoint_id is not None for stop in stops):
        return False
    if any(stop.how != "kill" and stop.checkpoint_id is None for stop in stops):
        return False
    worked = {row["run"] for row in rows if row["event"] in {"group_reserved", "checkpoint_restored"}}
    if not worked.issuperset(truth.runs[:-1]):
        return False
    if any(silent for run, silent in _silent_groups(rows).items() if run != truth.runs[-1]):
        return False
    current = ""
    seen: set[str] = set()
    for row in rows:
        if row["run"] not in seen:
            seen.add(row["run"])
            current = row["run"]
        if row["run"] != current and row["event"] in _BRING_BACK:
            return False
    return True


def _silent_groups(rows: Sequence[Row]) -> dict[str, set[str]]:
    """The groups that each run brought back and of which no row of it says anything more."""
    silent: dict[str, set[str]] = {}
    for row in rows:
        if row["event"] == "checkpoint_restored":
            silent[row["run"]] = set(row["groups"])
        elif row["event"] in _SIGNS and row["run"] in silent:
            silent[row["run"]] -= {row.get("group_id"), *row.get("group_ids", ())}
    return silent


_SIGNS = {"attempt_dispatched", "attempt_resumed", "group_published", "group_discarded", "train_step"}
_BRING_BACK = {"checkpoint_restored", "group_reserved", "group_discarded"}
