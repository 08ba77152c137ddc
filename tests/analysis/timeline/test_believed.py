"""Times that cannot be true stretch no picture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rtrace_otel.analysis.timeline.believed import FAR_S, HELD, BelievedTimes
from rtrace_otel.analysis.timeline.fold import timeline
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.events import Row
from tests.report.timed import JOB

NOW = 1_750_000_000.0
"""A morning in June 2025."""

ROWS = [{**row, "t": NOW + row["t"]} for row in JOB]
SANE = timeline(ROWS)


def with_time(place: int, time: float) -> Timeline:
    """The timeline of the job with another time in one row, checked."""
    rows = [{**row, "t": time} if number == place else row for number, row in enumerate(ROWS)]
    result = timeline(rows)
    result.self_check()
    return result


def moments(found: Timeline) -> tuple[float, float]:
    """First and last moment of a timeline."""
    assert found.start is not None
    assert found.end is not None
    return found.start, found.end


@pytest.mark.parametrize("time", [1.0, 4e9, 2.5e11], ids=["1970", "2096", "year 9892"])
@pytest.mark.parametrize("place", range(len(ROWS)))
def test_one_absurd_time_stretches_no_axis(place: int, time: float) -> None:
    """Whatever row has it: all moments lie within those of the same job without it, and the series stay as fine."""
    found = with_time(place, time)
    (first, last), (start, end) = moments(SANE), moments(found)

    assert first <= start <= end <= last
    assert found.series.width <= SANE.series.width
    assert 0 < found.rows_doubted <= 2


def test_sensible_times_are_all_believed() -> None:
    """The job takes less than a minute."""
    assert 0 == SANE.rows_doubted


def row(time: float, run: str = "a", **fields: object) -> Row:
    """A row of a run."""
    return {"event": "mine", "run": run, "t": time, **fields}


def taken(*times: float) -> list[float | None]:
    """What is left of the times of rows of one run."""
    believed = BelievedTimes()
    return [believed.row(row(time))["t"] for time in times]


def test_a_clock_that_was_set_is_believed_from_the_third_row_on() -> None:
    """Two odd rows that agree are still odd; one between them that is not odd begins the count anew."""
    far = NOW + 2 * FAR_S

    assert [NOW, None, None, far] == taken(NOW, far, far, far)
    assert [NOW, None, None, NOW, None, None, far] == taken(NOW, far, far, NOW, far, far, far)
    assert [NOW, None, None, None] == taken(NOW, 1.0, far, far)


def test_a_week_is_not_far() -> None:
    """A job that hung for a week is the same job; a second more is doubted."""
    assert [NOW, NOW + FAR_S] == taken(NOW, NOW + FAR_S)
    assert [NOW, None] == taken(NOW, NOW + FAR_S + 1)


def test_the_first_rows_may_be_the_odd_ones() -> None:
    """A host whose clock was set after the job began: what the job said before is not believed any more."""
    believed = BelievedTimes()
    for time in (5.0, NOW, NOW + 1, NOW + 2):
        believed.row(row(time))

    assert (NOW, NOW + 2) == (believed.first("a"), believed.last("a"))
    assert None is believed.time("a", 5.0)


def test_each_run_has_its_own_time() -> None:
    """A job may be restored a year later; a time of the other run is believed too, once that has three rows."""
    believed, later = BelievedTimes(), NOW + 50 * FAR_S
    believed.row(row(later, "b"))
    before = believed.time("a", later)
    rows = [row(NOW), row(later + 1, "b"), row(later + 2, "b")]

    assert [NOW, later + 1, later + 2] == [believed.row(one)["t"] for one in rows]
    assert (None, later, NOW) == (before, believed.time("a", later), believed.time("a", NOW))
    assert (None, None, None) == (believed.time("a", None), believed.first("c"), believed.last("c"))


def test_a_duration_of_years_is_no_duration() -> None:
    """It would begin the bar of a step long before the job."""
    believed = BelievedTimes()

    assert {60.0, None} == {believed.row(row(NOW, seconds=seconds))["seconds"] for seconds in (60.0, 1e9)}
    assert "x" == believed.row(row(NOW, seconds="x"))["seconds"]


def test_a_picture_has_a_place_for_every_row() -> None:
    """No time, none that a clock can show, one far away: where the run was; the only row of a run stays as it is."""
    believed = BelievedTimes()
    rows = [row(NOW), row(NOW + 5), row(NOW + 3), row(1e300), row(4e9), {"event": "mine", "run": "a"}, row(-1.0, "b")]

    assert [NOW, NOW + 5, NOW + 3, NOW + 5, NOW + 5, NOW + 5, -1.0] == [one["t"] for one in believed.through(rows)]
    assert 3 == believed.placed


@pytest.mark.parametrize("odd", [0.0, 1.0, 4e9, 2.5e11, 1e18, None], ids=str)
@pytest.mark.parametrize("many", [1, 2])
def test_the_first_rows_of_a_run_are_put_where_the_others_are(odd: float | None, many: int) -> None:
    """Which of them are odd is known from the third row that agrees; the rows keep their order, of two runs too."""
    believed = BelievedTimes()
    first = [{**row(NOW), "t": odd} for _ in range(many)]
    rows = [
        *first,
        row(NOW + 7, "b"),
        *(row(NOW + second) for second in (5, 6, 7)),
        row(NOW + 8, "b"),
        row(NOW + 9, "b"),
    ]
    found = list(believed.through(rows))

    assert [one["run"] for one in rows] == [one["run"] for one in found]
    assert [*[NOW + 5] * many, *(NOW + second for second in (7, 5, 6, 7, 8, 9))] == [one["t"] for one in found]
    assert many == believed.placed


def test_rows_wait_for_what_the_next_ones_say_but_not_for_ever() -> None:
    """A run with a single row holds back what comes after it, until there is too much."""
    rows = [row(NOW, "a"), *(row(NOW + 1, "b") for _ in range(5_000))]
    given = 0

    def counted() -> Iterator[Row]:
        nonlocal given
        for one in rows:
            given += 1
            yield one

    believed = BelievedTimes().through(counted())

    assert rows[0] == next(believed)
    assert HELD + 1 == given
    assert rows[1:] == list(believed)
