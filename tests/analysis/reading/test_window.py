"""A window on a file: the bytes that it had at one moment."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from zlib import crc32

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.reading.window import Window, same_window, window_on
from tests.analysis.rows import lines, row

DATA = lines(row(0), row(1), row(2))


def _on(path: Path) -> Window:
    window = window_on(path)
    assert window is not None
    return window


def _rest(window: Window) -> bytes:
    return b"".join(iter(lambda: window.read(50), b""))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with three rows."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(DATA)
    return path


def test_the_bytes_of_the_file(path: Path) -> None:
    """All of them, with their sum; once more when it is rewound."""
    with _on(path) as window:
        assert (str(path), len(DATA), (0, 0)) == (window.name, window.extent.size, window.seen)
        assert (DATA, (len(DATA), crc32(DATA))) == (_rest(window), window.seen)
        window.rewind()
        assert (DATA, (len(DATA), crc32(DATA))) == (_rest(window), window.seen)


@pytest.mark.parametrize("data", [b"", b"no newline", b"\n"])
def test_short_files(data: bytes, path: Path) -> None:
    """One without any byte, and one without a newline."""
    path.write_bytes(data)
    with _on(path) as window:
        assert data == _rest(window)


def test_what_comes_later_is_not_in_it(path: Path) -> None:
    """Nor in another window on the same bytes."""
    with _on(path) as window, path.open("ab") as file:
        file.write(lines(row(3)))
        file.flush()
        other = same_window(window.extent)
        assert other is not None
        with other:
            assert [DATA, DATA] == [_rest(window), _rest(other)]


def test_the_line_that_is_being_written_is_in_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size can be that of a moment in which half of a row was there."""
    status = os.stat_result((*path.stat()[:6], len(DATA) - 10, *path.stat()[7:]))
    monkeypatch.setattr(os, "fstat", lambda _: status)
    with _on(path) as window:
        assert DATA == _rest(window)


def test_another_file_has_no_such_bytes(path: Path, tmp_path: Path) -> None:
    """It took the place of the one that was opened, which can be read to its end."""
    (tmp_path / "new").write_bytes(lines(row(7)))
    with _on(path) as window:
        (tmp_path / "new").replace(path)
        assert same_window(window.extent) is None
        assert DATA == _rest(window)


def test_a_file_that_was_cut(path: Path) -> None:
    """What is left of it."""
    with _on(path) as window:
        os.truncate(path, 20)
        assert DATA[:20] == _rest(window)


def test_what_can_be_read_only_once_has_none(tmp_path: Path) -> None:
    """A pipe is not even opened: that would wait for its writer."""
    os.mkfifo(tmp_path / "fifo")

    assert window_on(tmp_path / "fifo") is None
    assert window_on(tmp_path) is None


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_it_is_a_source_of_events(packed: bool, path: Path) -> None:
    """The same rows and the same report as from the path."""
    data = DATA + b'{"event":"torn'
    path.write_bytes(gzip.compress(data) if packed else data)
    with _on(path) as window, read_events(path) as expected, read_events(window.stream) as found:
        assert [0, 1, 2] == [one["seq"] for one in found]
        assert 3 == len(list(expected))
        assert expected.report == found.report
