"""Settings are checked where they are made, and a number of stops becomes stops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.testing.settings import SimulationSettings, Stop

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"prompts": 0}, '"prompts" must be a whole number of at least 1: 0'),
    ({"epochs": 0}, '"epochs" must be a whole number of at least 1: 0'),
    ({"generations": 1.5}, '"generations" must be a whole number of at least 1: 1.5'),
    ({"groups_per_step": 0}, '"groups_per_step" must be a whole number of at least 1: 0'),
    ({"steps": True}, '"steps" must be a whole number of at least 1: True'),
    ({"open_groups": 3}, '"open_groups" must be at least "groups_per_step" (4): 3'),
    ({"calls": 0}, '"calls" must be a whole number of at least 1: 0'),
    ({"refit_every": 0}, '"refit_every" must be a whole number of at least 1: 0'),
    ({"checkpoint_every": 0}, '"checkpoint_every" must be a whole number of at least 1: 0'),
    ({"give_up_after": 0}, '"give_up_after" must be a whole number of at least 1: 0'),
    ({"staleness_limit": -1}, '"staleness_limit" must be a whole number of at least 0: -1'),
    ({"tokens": 0.0}, '"tokens" must be a number above 0: 0.0'),
    ({"seconds": float("nan")}, '"seconds" must be a number above 0: nan'),
    ({"train_s": -1.0}, '"train_s" must be a number above 0: -1.0'),
    ({"refit_s": float("inf")}, '"refit_s" must be a number above 0: inf'),
    ({"refusal_rate": 1.1}, '"refusal_rate" must be between 0 and 1: 1.1'),
    ({"error_rate": -0.1}, '"error_rate" must be between 0 and 1: -0.1'),
    ({"masked_rate": float("nan")}, '"masked_rate" must be between 0 and 1: nan'),
    ({"error_rate": 1.0}, '"error_rate" must be below 1 without "give_up_after", or no attempt ever ends well'),
    ({"stops": -1}, '"stops" must be a whole number of at least 0: -1'),
    ({"keeps": "most"}, "\"keeps\" must be one of nothing, group, sibling, turn, prefix: 'most'"),
    ({"ending": "bad"}, "\"ending\" must be one of clean, killed, running: 'bad'"),
    ({"start": -1.0}, '"start" must be a number of at least 0: -1.0'),
]

WRONG_STOPS: list[tuple[dict[str, Any], str]] = [
    ({"at_step": -1}, '"at_step" must be a whole number of at least 0: -1'),
    ({"after_rows": 0.5}, '"after_rows" must be a whole number of at least 0: 0.5'),
    ({"checkpoint": -1}, '"checkpoint" must be a whole number of at least 0: -1'),
    ({"how": "crash"}, "\"how\" must be one of kill, clean, drained: 'crash'"),
    ({"down_s": -1.0}, '"down_s" must be a number of at least 0: -1.0'),
    ({"down_s": float("inf")}, '"down_s" must be a number of at least 0: inf'),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[message.split('"')[1] for _, message in WRONG])
def test_a_setting_out_of_its_range_is_named(values: dict[str, Any], message: str) -> None:
    """The error says which setting, what it must be, and what it is."""
    with pytest.raises(ValueError, match="must be") as raised:
        replace(SimulationSettings(), **values)

    assert message == str(raised.value)


@pytest.mark.parametrize(("values", "message"), WRONG_STOPS, ids=[message for _, message in WRONG_STOPS])
def test_a_stop_out_of_its_range_is_named(values: dict[str, Any], message: str) -> None:
    """The same for a stop."""
    with pytest.raises(ValueError, match="must be") as raised:
        replace(Stop(), **values)

    assert message == str(raised.value)


def test_the_edges_of_the_ranges_are_legal() -> None:
    """What the bounds allow can be set."""
    settings = SimulationSettings(
        prompts=1, epochs=1, generations=1, groups_per_step=1, steps=1, open_groups=1, calls=1, give_up_after=1,
        staleness_limit=0, refusal_rate=1, error_rate=1, masked_rate=0, stops=0, start=0.0, checkpoint_every=None,
    )  # fmt: skip

    assert (1, None) == (settings.prompts, settings.checkpoint_every)


def test_stops_given_are_the_stops() -> None:
    """An explicit list is used as it is."""
    stops = (Stop(at_step=3, how="clean"), Stop(at_step=5, checkpoint=None))

    assert stops == SimulationSettings(stops=stops).planned_stops()


def test_a_number_of_stops_is_spread_over_the_steps() -> None:
    """12 steps and 3 stops: kills after steps 3, 6 and 9, each restoring the latest checkpoint."""
    stops = SimulationSettings(steps=12, stops=3).planned_stops()

    assert [3, 6, 9] == [stop.at_step for stop in stops]
    assert {("kill", 0, False)} == {(stop.how, stop.checkpoint, stop.late_row) for stop in stops}
    assert () == SimulationSettings(stops=0).planned_stops()


def test_more_stops_than_steps_come_before_the_last() -> None:
    """A job of two steps can be stopped five times; no stop waits for the job's last step, which would end it."""
    assert {0, 1} == {stop.at_step for stop in SimulationSettings(steps=2, stops=5).planned_stops()}
