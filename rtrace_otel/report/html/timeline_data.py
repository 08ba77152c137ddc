"""What the picture of the job over time needs: columns of attempts and of their groups, and bands as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rtrace_otel.analysis.flow.records import ATTEMPT_OUTCOMES
from rtrace_otel.analysis.timeline.results import NOWHERE, OPEN_ATTEMPTS, UNKNOWN, AttemptColumns, Timeline
from rtrace_otel.analysis.timeline.states import FATES, STATES, State
from rtrace_otel.report.document import printable
from rtrace_otel.report.html.columns import Columns, numbers, texts
from rtrace_otel.report.records import flat

MANY: Final = 20_000
"""With more attempts than this the page holds times and rewards to the hundredth, the heads of group ids, and of
attempts that were trained no ids: their group, generation and number say which they are."""

HEAD: Final = 8
"""Characters of the head of an id."""


def timeline_json(found: Timeline) -> dict[str, Any]:
    """Everything but the attempts as JSON values: counts, bands, open attempts over time; texts can be shown."""
    bands = {kind: [_shown(flat(band)) for band in getattr(found.bands, kind)] for kind in found.bands.__slots__}
    return {
        "start": found.start,
        "end": found.end,
        "unit": _unit(found),
        "ids_cut": HEAD if attempts_are_many(found) else None,
        "lanes": found.lanes,
        "attempts_total": found.attempts_total,
        "attempts_untimed": found.attempts_untimed,
        "rows_doubted": found.rows_doubted,
        "attempts_matching": found.attempts_matching,
        "attempts_shown": found.attempts_shown,
        "by_outcome": dict(found.by_outcome),
        "attempt_seconds": found.attempt_seconds,
        "outcomes": [str(outcome) for outcome in ATTEMPT_OUTCOMES],
        "states": [str(state) for state in STATES],
        "fates": [str(fate) for fate in FATES],
        "bands": bands,
        "series": {
            "start": found.series.start,
            "width": found.series.width,
            OPEN_ATTEMPTS: [round(value, 4) for value in found.series.values[OPEN_ATTEMPTS]],
        },
    }


def timeline_columns(found: Timeline, after: float | None = None) -> dict[str, Columns]:
    """The tables ``attempts`` and ``attempt_groups`` of a page.

    Times count in units (``unit`` of :func:`timeline_json`) from the start of the timeline. A row of ``attempts`` has
    ``start_delta``, the units since the start of the row before, and ``length``; ``group`` is the row of its group. A
    row of ``attempt_groups`` is a group in one run; ``run`` is its place among ``runs`` of the bands.

    Args:
        found: The timeline, with all its attempts in its columns or a part of them.
        after: Start of the attempt before these, if there is one.
    """
    columns, tables = found.attempts, found.tables
    unit, origin = _unit(found), found.start or 0.0
    before = 0 if after is None else round((after - origin) / unit)
    starts = [round((start - origin) / unit) for start in columns.start]
    ends = [round((end - origin) / unit) for end in columns.end]
    rows, owner = _groups(columns)
    return {
        "attempts": {
            "start_delta": numbers([start - last for start, last in zip(starts, [before, *starts], strict=False)]),
            "length": numbers([end - start for start, end in zip(starts, ends, strict=True)]),
            "lane": numbers(columns.lane),
            "outcome": numbers(columns.outcome),
            "state": numbers(columns.state),
            "fate": numbers(_places(columns.fate)),
            "group": numbers(owner),
            "generation": numbers(_known(columns.generation)),
            "attempt_index": numbers(_known(columns.attempt_index)),
            "tokens": numbers(_known(columns.tokens)),
            "tokens_kept": numbers(_known(columns.tokens_kept)),
            "version": numbers(_known(columns.version_start)),
            "step": numbers(_known(columns.step)),
            "refusals": numbers(_known(columns.refusals)),
            "refused_s": numbers(columns.refused_s, 0.001),
            "reward": numbers(columns.reward, 0.01 if attempts_are_many(found) else 0.0001),
            "reason": texts(_looked_up(columns.reason, tables.reasons), printable),
            "instance": texts(_looked_up(columns.instance, tables.instances), printable),
            "level": texts(_looked_up(columns.level, tables.levels), printable),
            "id": texts(_attempt_ids(found), printable),
        },
        "attempt_groups": {
            "run": texts([tables.runs[columns.run[row]] for row in rows], printable),
            "id": texts(_heads(_looked_up(_at(columns.group, rows), tables.groups), found), printable),
            "prompt": texts(_looked_up(_at(columns.prompt, rows), tables.prompts), printable),
            "reserved": numbers([columns.reserved[row] - origin for row in rows], unit),
            "published": numbers([columns.published[row] - origin for row in rows], unit),
        },
    }


def _groups(columns: AttemptColumns) -> tuple[list[int], list[int]]:
    """A row that stands for each group in each run, and the place among these for every row."""
    places: dict[tuple[int, int, int], int] = {}
    rows: list[int] = []
    owner: list[int] = []
    for row, key in enumerate(zip(columns.run, columns.group, columns.prompt, strict=True)):
        place = places.setdefault(key, len(rows))
        if place == len(rows):
            rows.append(row)
        owner.append(place)
    return rows, owner


def attempts_are_many(found: Timeline) -> bool:
    """Whether there are more attempts than are told in full."""
    return found.attempts_shown > MANY


def _unit(found: Timeline) -> float:
    return 0.01 if attempts_are_many(found) else 0.001


def _attempt_ids(found: Timeline) -> list[str | None]:
    columns = found.attempts
    if not attempts_are_many(found):
        return list(columns.attempt_id)
    trained = STATES.index(State.TRAINED)
    return [None if state == trained else name for name, state in zip(columns.attempt_id, columns.state, strict=True)]


def _heads(names: Iterable[str | None], found: Timeline) -> list[str | None]:
    return [name[:HEAD] if name is not None and attempts_are_many(found) else name for name in names]


def _at(column: Sequence[int], rows: Iterable[int]) -> list[int]:
    return [column[row] for row in rows]


def _known(column: Sequence[int]) -> list[int | None]:
    return [None if value == UNKNOWN else value for value in column]


def _places(column: Sequence[int]) -> list[int | None]:
    return [None if value == NOWHERE else value for value in column]


def _looked_up(column: Iterable[int], table: Sequence[str]) -> list[str | None]:
    return [None if place == NOWHERE else table[place] for place in column]


def _shown(value: dict[str, Any]) -> dict[str, Any]:
    return {name: printable(item) if isinstance(item, str) else item for name, item in value.items()}
