"""``--jobs`` of ``rtrace summary --all`` and ``rtrace report``: the second process changes no byte of an answer."""

from __future__ import annotations

import gzip
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from rtrace_otel.analysis.reading import beside as reading_beside
from rtrace_otel.analysis.reading.beside import Beside
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.testing import SimulationSettings, simulate
from tests.cli.conftest import JOB
from tests.cli.program import Result, Run, lines, rtrace

DEMO: Final = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"
SIMULATED: Final = lines(simulate(SimulationSettings(steps=8, stops=2)).iter_rows())
FORMS: Final = ("table", "json", "csv", "md")
LARGE: Final = lines(JOB) * (reading_beside.MIN_BYTES // len(lines(JOB)) + 1)
"""Large enough for a second process; each time the same job, which restarts."""

Started = list[Beside[Any]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """The processes that were started beside this one; even small files get one."""
    found: Started = []
    start = reading_beside._started

    def remembered(*arguments: Any) -> Beside[Any]:
        found.append(start(*arguments))
        return found[-1]

    monkeypatch.setattr(reading_beside, "MIN_BYTES", 0)
    monkeypatch.setattr(reading_beside, "_started", remembered)
    return found


def _trace(kind: str, folder: Path) -> Path:
    """The demo, a simulated job, or one that is damaged in many ways."""
    path = folder / "rollout_trace.jsonl"
    if kind == "demo":
        path.write_bytes(gzip.decompress(DEMO.read_bytes()))
    elif kind == "gzip":
        path = folder / "rollout_trace.jsonl.gz"
        path.write_bytes(DEMO.read_bytes())
    elif kind == "torn gzip":
        path = folder / "rollout_trace.jsonl.gz"
        path.write_bytes(DEMO.read_bytes()[:20_000])
    else:
        third = len(SIMULATED) // 3
        damage = b'\xef\xbb\xbf\n\0\0\0{"event":"torn\n[1]\n"x"\n\xff\xfe\n\r\n'
        parts = (SIMULATED[:third], damage, SIMULATED[third + 40 : 2 * third], damage, SIMULATED[2 * third : -30])
        path.write_bytes(b"".join(parts))
    return path


@pytest.mark.parametrize("kind", ["demo", "gzip", "torn gzip", "damaged"])
@pytest.mark.parametrize("form", FORMS)
def test_the_same_answers(form: str, kind: str, run: Run, started: Started, tmp_path: Path) -> None:
    """In every format, notes on standard error included."""
    path = _trace(kind, tmp_path)
    expected = run("summary", "--all", path, "--format", form, "--jobs", "1")
    assert ([], 0) == (started, expected.code)

    assert expected == run("summary", "--all", path, "--format", form, "--jobs", "2")
    assert 1 == len(started)


@pytest.mark.parametrize("kind", ["demo", "gzip", "torn gzip", "damaged"])
def test_the_same_page(kind: str, run: Run, started: Started, tmp_path: Path) -> None:
    """Byte for byte, findings of the check included."""
    path = _trace(kind, tmp_path)
    expected = run("report", path, "-o", "-", "--jobs", "1")
    assert ([], 0) == (started, expected.code)

    assert expected == run("report", path, "-o", "-", "--jobs", "2")
    assert 1 == len(started)


def test_the_same_page_to_share(run: Run, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the same secret: the second process hashes as the first."""
    monkeypatch.setattr("rtrace_otel.cli.report.token_bytes", lambda size: b"k" * size)
    path = _trace("damaged", tmp_path)
    expected = run("report", path, "--share", "-o", "-", "--jobs", "1")

    assert expected == run("report", path, "--share", "-o", "-", "--jobs", "2")
    assert 1 == len(started)


def test_an_empty_file_and_one_without_events(run: Run, started: Started, tmp_path: Path) -> None:
    """The same error."""
    path = tmp_path / "t.jsonl"
    for data in (b"", b"garbage\n"):
        path.write_bytes(data)
        expected = run("summary", "--all", path, "--jobs", "1")
        assert (1, expected) == (expected.code, run("summary", "--all", path, "--jobs", "2"))
    assert 2 == len(started)


def test_strict(run: Run, started: Started, tmp_path: Path) -> None:
    """The first damage ends it, with its line."""
    path = _trace("damaged", tmp_path)
    expected = run("summary", "--all", path, "--strict", "--jobs", "1")

    assert (1, expected) == (expected.code, run("summary", "--all", path, "--strict", "--jobs", "2"))
    assert f"error: {path}:" in expected.err
    assert 1 == len(started)


@pytest.mark.parametrize("files", ["missing.jsonl", "."])
def test_what_cannot_be_read(files: str, run: Run, started: Started, tmp_path: Path) -> None:
    """A file that is not there, and a folder without a trace."""
    expected = run("report", tmp_path / files, "--jobs", "1")

    assert (1, expected) == (expected.code, run("report", tmp_path / files, "--jobs", "2"))
    assert [] == started


def test_several_parts_take_one_process(run: Run, started: Started, tmp_path: Path) -> None:
    """And give what they give with one."""
    (tmp_path / "a").mkdir()
    parts = (_trace("demo", tmp_path), _trace("damaged", tmp_path / "a"))
    expected = run("report", *parts, "-o", "-", "--jobs", "1")

    assert (0, expected) == (expected.code, run("report", *parts, "-o", "-", "--jobs", "2"))
    assert [] == started


def _die(_: EventReader, secret: bytes | None = None) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(secret)


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (("summary", "--all", "--format", "json"), "rtrace_otel.analysis.check.check.check_trace"),
        (("report", "-o", "-"), "rtrace_otel.cli.report.apart_of"),
    ],
)
def test_a_process_that_is_killed_costs_nothing(
    command: tuple[str, ...], part: str, run: Run, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one does all of it in its place; notes are written once."""
    path = _trace("damaged", tmp_path)
    expected = run(*command, path, "--jobs", "1")
    monkeypatch.setattr(part, _die)

    assert (0, expected) == (expected.code, run(*command, path, "--jobs", "2"))
    assert 1 == len(started)


def test_no_room_for_a_second_process(
    run: Run, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One does all of it."""
    path = _trace("damaged", tmp_path)
    expected = run("summary", "--all", path, "--jobs", "1")

    def full(*_: Any) -> NoReturn:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(reading_beside, "_started", full)
    assert (0, expected) == (expected.code, run("summary", "--all", path, "--jobs", "2"))
    assert [] == started


@contextmanager
def _before_the_start(change: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Something happens to the file after it was opened, before the second process opens it."""
    start = reading_beside._started

    def late(*arguments: Any) -> Beside[Any]:
        change()
        return start(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(reading_beside, "_started", late)
        yield


def test_a_file_that_is_replaced_meanwhile(
    run: Run, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was opened is the one that counts."""
    path, other = _trace("demo", tmp_path), tmp_path / "other"
    other.write_bytes(SIMULATED)
    expected = run("summary", "--all", path, "--jobs", "1")
    with _before_the_start(lambda: other.replace(path), monkeypatch):
        assert (0, expected) == (expected.code, run("summary", "--all", path, "--jobs", "2"))
    assert (1, SIMULATED) == (len(started), path.read_bytes())


def test_a_file_that_grows_meanwhile(
    run: Run, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it held at the begin is what all of the answer is about."""
    path = _trace("demo", tmp_path)
    expected = run("summary", "--all", path, "--jobs", "1")

    def grow() -> None:
        with path.open("ab") as file:
            file.write(SIMULATED)

    with _before_the_start(grow, monkeypatch):
        assert (0, expected) == (expected.code, run("summary", "--all", path, "--jobs", "2"))
    assert 1 == len(started)


def test_the_program(tmp_path: Path) -> None:
    """A large file, standard input and a file in a pipe: the same answer, whatever it is called."""
    path = tmp_path / "large.jsonl"
    path.write_bytes(LARGE)
    expected = rtrace("summary", "--all", "--format", "json", path, "--jobs", "1")
    given = rtrace("summary", "--all", "--format", "json", "-", "--jobs", "2", given=LARGE)

    assert 0 == expected.code
    assert expected == rtrace("summary", "--all", "--format", "json", path, "--jobs", "2")
    assert expected == rtrace("summary", "--all", "--format", "json", path)
    named = (given.out.replace("<stdin>", str(path)), given.err.replace("<stdin>", str(path)))
    assert expected == Result(given.code, *named)
