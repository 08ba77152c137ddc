"""Everything that can hold lines is read alike."""

from __future__ import annotations

import gc
import gzip
import io
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.reading.source import Source
from rtrace_otel.errors import TraceFileError
from tests.analysis.rows import faults, lines, report_of, row

ROWS = [row(0), row(1, note="ü"), row(0, "b")]
DATA = lines(*ROWS)
NAME = "rollout_trace.jsonl"


class Pieces(io.RawIOBase):
    """A raw stream that gives its pieces one read at a time, as a pipe does; an empty piece is a passing end."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if not len(buffer) or not self._pieces:
            return 0
        piece = self._pieces.pop(0)
        count = min(len(piece), len(buffer))
        buffer[:count] = piece[:count]
        if piece[count:]:
            self._pieces.insert(0, piece[count:])
        return count


def _path(folder: Path, data: bytes = DATA, name: str = NAME) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _spooled() -> IO[bytes]:
    file = tempfile.SpooledTemporaryFile()  # noqa: SIM115 - it lies in memory, and the reader's caller owns it
    file.write(DATA)
    file.seek(0)
    return file


SOURCES: dict[str, Callable[[Path], Source]] = {
    "path": _path,
    "path as text": lambda folder: str(_path(folder)),
    "folder": lambda folder: _path(folder).parent,
    "folder with gzip": lambda folder: _path(folder, gzip.compress(DATA), NAME + ".gz").parent,
    "gzip": lambda folder: _path(folder, gzip.compress(DATA), "t.gz"),
    "gzip under a plain name": lambda folder: _path(folder, gzip.compress(DATA)),
    "gzip of two members": lambda folder: _path(folder, gzip.compress(DATA[:50]) + gzip.compress(DATA[50:])),
    "plain under the name of gzip": lambda folder: _path(folder, name="t.gz"),
    "BytesIO": lambda _: io.BytesIO(DATA),
    "BytesIO of gzip": lambda _: io.BytesIO(gzip.compress(DATA)),
    "spooled file": lambda _: _spooled(),
    "raw stream": lambda _: Pieces(DATA),
    "raw stream of single bytes": lambda _: Pieces(*(bytes([byte]) for byte in DATA)),
    "raw stream of gzip": lambda _: Pieces(gzip.compress(DATA)),
    "raw stream of gzip in single bytes": lambda _: Pieces(*(bytes([byte]) for byte in gzip.compress(DATA))),
    "GzipFile": lambda _: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(DATA))),
    "StringIO": lambda _: io.StringIO(DATA.decode()),
    "text file": lambda _: io.TextIOWrapper(io.BytesIO(DATA), encoding="utf-8"),
    "list of bytes": lambda _: DATA.splitlines(),
    "list of bytes with newlines": lambda _: DATA.splitlines(keepends=True),
    "list of texts": lambda _: DATA.decode().splitlines(),
    "generator of texts": lambda _: (line for line in DATA.decode().splitlines(keepends=True)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_rows_and_no_damage(kind: str, tmp_path: Path) -> None:
    """A path, a folder, gzip, file objects and lines: the same rows, and the report finds nothing."""
    source = SOURCES[kind](tmp_path)
    with read_events(source) as reader:
        rows = list(reader)
    getattr(source, "close", lambda: None)()

    assert (ROWS, report_of(ROWS, source=reader.report.source)) == (rows, reader.report)


@pytest.mark.parametrize("data", [DATA, gzip.compress(DATA)], ids=["plain", "gzip"])
def test_a_dash_is_standard_input(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual name for a pipe; it stays open for whoever started us."""
    stdin = io.TextIOWrapper(io.BufferedReader(Pieces(data)), encoding="utf-8")  # type: ignore[type-var]
    monkeypatch.setattr(sys, "stdin", stdin)
    reader = read_events("-")

    assert (ROWS, "<stdin>", False) == (list(reader), reader.report.source, stdin.closed)


def test_a_folder_prefers_the_plain_file(tmp_path: Path) -> None:
    """A log folder may hold an old archive beside the trace that is being written."""
    _path(tmp_path, gzip.compress(lines(row(0, "old"))), NAME + ".gz")
    _path(tmp_path)

    assert ROWS == list(read_events(tmp_path))


def test_a_folder_is_reported_by_the_file_in_it(tmp_path: Path) -> None:
    """A line number belongs to a file: the report and the errors name it, not its folder."""
    path = _path(tmp_path, DATA + b"oops\n")
    reader = read_events(tmp_path)
    list(reader)
    with pytest.raises(TraceFileError) as caught:
        list(read_events(tmp_path, strict=True))

    assert (str(path), str(path), 4) == (reader.report.source, caught.value.where, caught.value.line)


@pytest.mark.parametrize("make", [io.BytesIO, Pieces, io.StringIO], ids=["BytesIO", "raw", "StringIO"])
def test_the_callers_file_stays_open(make: Callable[..., io.IOBase]) -> None:
    """Whoever opened a file closes it: neither reading nor forgetting the reader does."""
    file = make(DATA.decode() if make is io.StringIO else DATA)
    reader = read_events(file)
    rows = list(reader)
    reader.close()
    del reader
    gc.collect()

    assert (ROWS, False) == (rows, file.closed)


def test_a_raw_file_of_the_caller_stays_open(tmp_path: Path) -> None:
    """The same holds for a file opened without a buffer."""
    with _path(tmp_path).open("rb", buffering=0) as file:
        rows = list(read_events(file))
        gc.collect()

        assert (ROWS, False) == (rows, file.closed)


@pytest.mark.parametrize("kept", [1, 5, 40, 4000], ids=lambda kept: f"{kept} bytes")
def test_a_truncated_archive_gives_what_it_holds(kept: int) -> None:
    """The rows before the tear arrive, one damage names it, and reading ends."""
    rows = [row(seq, hash=str(hash(str(seq * 7919)))) for seq in range(2000)]
    reader = read_events(io.BytesIO(gzip.compress(lines(*rows))[:kept]))
    found = list(reader)

    assert rows[: len(found)] == found
    expected = DamageKind.NOT_JSON if kept == 1 else DamageKind.TORN_ARCHIVE
    assert expected in {damage.kind for damage in reader.report.damages}
    assert (kept < 4000) is (not found)


def test_an_archive_with_a_wrong_checksum_is_named() -> None:
    """Everything arrives, but the file cannot be trusted, and the report says so."""
    data = bytearray(gzip.compress(DATA))
    data[-8] ^= 0xFF
    reader = read_events(io.BytesIO(bytes(data)))

    assert (ROWS, [(4, DamageKind.TORN_ARCHIVE, 0)]) == (list(reader), faults(reader.report))


def test_a_torn_archive_raises_under_strict() -> None:
    """``strict`` is fatal for archives too."""
    with pytest.raises(TraceFileError):
        list(read_events(io.BytesIO(gzip.compress(DATA)[:-9]), strict=True))


def _failing() -> Iterable[bytes]:
    yield DATA.splitlines()[0]
    raise OSError(5, "Input/output error")


def test_a_device_that_fails_in_the_middle_is_named_with_its_line() -> None:
    """Rows before the fault arrive; then the error names the place."""
    reader = read_events(_failing())

    assert ROWS[0] == next(reader)
    with pytest.raises(TraceFileError) as caught:
        next(reader)
    assert "<lines>:2: cannot be read on: Input/output error" == str(caught.value)


def test_a_folder_without_a_trace_says_what_was_looked_for(tmp_path: Path) -> None:
    """The error names the folder, the file that is not in it, and the way out."""
    with pytest.raises(TraceFileError) as caught:
        read_events(tmp_path)

    assert f"{tmp_path}: no {NAME} in this folder. Pass the trace file or the job's log folder" == str(caught.value)
