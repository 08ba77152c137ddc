"""A report that follows its file."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.overview import OverviewFold
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.report.html.data import live_page_data, page_data
from rtrace_otel.report.html.live import LiveReport, Told
from rtrace_otel.report.html.stream import event_of, events_since
from tests.cli.conftest import JOB
from tests.report.html.packed import Values, put_together, unpacked, unpacked_json

LINES = [json.dumps(row).encode() + b"\n" for row in JOB]


class Clock:
    """Time that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def values(told: Told) -> dict[str, Any]:
    """The parts of the page as values; document and tables as a page puts them together."""
    parts = {name: json.loads(text) for name, (_, text) in told.parts.items()}
    head, document = parts["head"], unpacked_json(parts["document"])
    pieces = {name.removeprefix("tables."): text for name, text in parts.items() if name.startswith("tables.")}
    found, tables = put_together(head, document, pieces)
    head = {name: value for name, value in head.items() if name != "pieces"}
    rest = {name: value for name, value in parts.items() if name in ("title", "about", "opening")}
    return {**rest, "head": head, "document": found, "tables": with_groups(tables)}


def with_groups(tables: dict[str, dict[str, Values]]) -> dict[str, dict[str, Values]]:
    """Tables whose attempts have the values of their group: a group of two pieces stands in both."""
    groups = tables["attempt_groups"]
    places = [int(place) for place in tables["attempts"]["group"]]
    own = {f"group {name}": [column[place] for place in places] for name, column in groups.items()}
    attempts = {name: column for name, column in tables["attempts"].items() if name != "group"}
    return {**tables, "attempts": {**attempts, **own}, "attempt_groups": {}}


def read_at_once(path: Path) -> dict[str, Any]:
    """The parts of the page of a file that is read as a whole."""
    fold = OverviewFold()
    with read_events(str(path)) as reader:
        for row in reader:
            fold.add(row, reader.line)
    data = page_data(fold.result(reader.report), reader.report)
    return {
        "title": data.title,
        "about": data.about,
        "opening": list(data.opening),
        "head": json.loads(json.dumps(data.head)),
        "document": unpacked_json(data.document),
        "tables": with_groups({name: unpacked(text) for name, text in data.tables.items()}),
    }


def changed(before: Told, after: Told) -> set[str]:
    """The parts that an update says have changed."""
    return set(json.loads(after.since(before.epoch, before.version))["parts"])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, len(LINES)), max_size=5))
def test_a_file_that_grows_is_told_as_if_read_at_once(cuts: list[int]) -> None:
    """After each stretch of rows the page is that of the file so far, and each row was folded once."""
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder) / "rollout_trace.jsonl", Clock()
        report = LiveReport(str(path), clock)
        written = 0
        for cut in [*sorted(cuts), len(LINES)]:
            with path.open("ab") as file:
                file.writelines(LINES[written:cut])
            written = max(written, cut)
            clock.now += 1000
            assert not report.look()
            report.update()
            assert written == report.rows_folded
            assert read_at_once(path) == values(report.told)


def test_an_update_costs_what_is_new(tmp_path: Path) -> None:
    """A file of a thousand jobs is there already; one row more is one row folded."""
    path = tmp_path / "rollout_trace.jsonl"
    path.write_bytes(b"".join(LINES) * 1000)
    report = LiveReport(str(path))
    while report.look():
        pass
    assert 20_000 == report.rows_folded
    with path.open("ab") as file:
        file.write(LINES[0])
    report.look()
    assert 20_001 == report.rows_folded
    report.look()
    assert 20_001 == report.rows_folded


def test_only_parts_that_changed_are_told(tmp_path: Path) -> None:
    """A row that no chart shows changes the count of rows and what is said of the file, not its ages."""
    path, clock = tmp_path / "rollout_trace.jsonl", Clock()
    path.write_bytes(b"".join(LINES))
    report = LiveReport(str(path), clock)
    report.look()
    report.update()
    before = report.told
    with path.open("ab") as file:
        file.write(b'{"event":"mine","t":1020.0,"run":"bbbbbbbb00000002","seq":8}\n')
    clock.now += 1000
    report.look()
    report.update()
    assert {"about", "head", "document"} <= changed(before, report.told)
    assert not {"title", "tables.ages#0"} & changed(before, report.told)
    assert set(report.told.parts) == changed(Told("another"), report.told)
    assert set() == changed(report.told, report.told)


def test_nothing_new_is_not_told(tmp_path: Path) -> None:
    """A file that stands still costs a look."""
    path, clock = tmp_path / "rollout_trace.jsonl", Clock()
    path.write_bytes(b"".join(LINES))
    report = LiveReport(str(path), clock)
    report.look()
    assert [True, False] == [report.update(), report.update()]
    told, clock.now = report.told, clock.now + 1000
    report.look()
    assert (False, told) == (report.update(), report.told)


@pytest.mark.parametrize(("took", "pause"), [(0.0, 1.0), (0.05, 1.0), (0.5, 4.5), (20.0, 180.0)])
def test_telling_takes_a_tenth_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took: float, pause: float
) -> None:
    """A second at the least, else nine times as long as it took: 0.5 s of work and 4.5 s of pause."""
    path, clock = tmp_path / "rollout_trace.jsonl", Clock()

    def slow(*given: Any) -> Any:
        clock.now += took
        return live_page_data(*given)

    monkeypatch.setattr("rtrace_otel.report.html.live.live_page_data", slow)
    path.write_bytes(LINES[0])
    report = LiveReport(str(path), clock, cost=clock)
    report.look()
    report.update()
    with path.open("ab") as file:
        file.write(LINES[1])
    report.look()
    clock.now += pause - 0.01
    assert not report.update()
    clock.now += 0.02
    assert report.update()


def test_the_end_of_a_file_that_was_there_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its begin is told first; what is added later waits for its turn; and the same for a file that is begun anew."""
    monkeypatch.setattr("rtrace_otel.analysis.reading.tail.MAX_LOOK_BYTES", len(b"".join(LINES[:2])))
    path, clock = tmp_path / "rollout_trace.jsonl", Clock()
    report = LiveReport(str(path), clock)
    for lines in (LINES, LINES[1:]):
        path.write_bytes(b"".join(lines))
        clock.now += 1000
        more, told = True, []
        while more:
            more = report.look()
            told.append(report.update())
        assert (True, True) == (told[0], told[-1])
        assert 2 == sum(told)
        with path.open("ab") as file:
            file.write(LINES[0])
        report.look()
        assert not report.update()


def test_a_file_that_is_cut_short_is_begun_anew(tmp_path: Path) -> None:
    """What stood in it before is forgotten."""
    path, clock = tmp_path / "rollout_trace.jsonl", Clock()
    path.write_bytes(b"".join(LINES))
    report = LiveReport(str(path), clock)
    report.look()
    report.update()
    path.write_bytes(b"".join(LINES[:3]))
    clock.now += 1000
    report.look()
    report.update()
    assert (3, 1002.0) == (report.told.state["rows"], report.told.state["last_row"])
    assert read_at_once(path) == values(report.told)


def test_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    """There is a page at once, which says so; the file may come, go and come."""
    path, clock = tmp_path / "rollout_trace.jsonl", Clock()
    report = LiveReport(str(path), clock)
    report.look()
    report.update()
    assert (True, 0) == (report.told.state["missing"], report.told.state["rows"])
    assert "script" in report.page(report.told, back=False)[0]
    path.write_bytes(LINES[0])
    report.look()
    assert (False, 1) == (report.told.state["missing"], report.told.state["rows"])
    path.unlink()
    report.look()
    assert report.told.state["missing"]


def test_a_packed_trace_is_read_once(tmp_path: Path) -> None:
    """Like any other file, but it does not grow."""
    path = tmp_path / "rollout_trace.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(LINES)))
    report = LiveReport(str(path))
    report.look()
    report.look()
    report.update()
    assert len(LINES) == report.rows_folded
    assert read_at_once(path) == values(report.told)


@pytest.mark.parametrize("name", ["folder", "rollout_trace.jsonl.gz"])
def test_what_cannot_be_followed(tmp_path: Path, name: str) -> None:
    """The page says why: a folder in place of the file, a gzip that is none."""
    (tmp_path / "folder" / "rollout_trace.jsonl").mkdir(parents=True)
    (tmp_path / "rollout_trace.jsonl.gz").write_bytes(b"\\x1f\\x8bnone")
    report = LiveReport(str(tmp_path / name))
    report.look()
    report.update()
    assert report.told.state["problem"] is not None or report.told.state["rows"] == 0


def test_the_policy_of_a_page(tmp_path: Path) -> None:
    """The page may talk to the program that shows it, and to nobody else."""
    report = LiveReport(str(tmp_path / "none"))
    report.update()
    page, policy = report.page(report.told, back=True)
    assert "; connect-src 'self'" in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "rtrace.follow(" in page


def test_the_events_of_a_stream() -> None:
    """A page gets what it lacks: all parts at first, then those that changed; the state when it changes."""
    first = Told("e", 1, {"a": (1, "1"), "b": (1, "2")}, {"rows": 1})
    second = Told("e", 2, {"a": (1, "1"), "b": (2, "3")}, {"rows": 1})
    state = 'event: state\ndata: {"rows": 1}\n\n'
    parts = 'event: parts\ndata: {"epoch":"e","version":%d,"parts":{%s}}\n\n'
    assert parts % (1, '"a":1,"b":2') + state == events_since(first, None, "", -1)
    assert parts % (2, '"b":3') + state == events_since(second, None, "e", 1)
    assert parts % (2, '"a":1,"b":3') + state == events_since(second, None, "other", 2)
    assert "" == events_since(second, second, "e", 2)
    assert state == events_since(second, None, "e", 2)
    assert "" == events_since(Told("e"), None, "", -1)
    assert ": still here\n\n" == event_of("", "")
