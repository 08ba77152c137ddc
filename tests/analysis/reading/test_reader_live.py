"""Files that other programs are still writing, opened as text, or far too long for one line."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading import batches as batches_module
from rtrace_otel.analysis.reading.damage import DamageKind as Kind
from rtrace_otel.analysis.reading.reader import read_events
from tests.analysis.reading.test_source import Pieces
from tests.analysis.rows import faults, lines, read, report_of, row, text

ROWS = [row(0), row(1), row(2)]
DATA = lines(*ROWS)


@pytest.mark.parametrize("cut", [1, 20, 60, len(DATA) - 2])
def test_a_row_that_is_completed_while_it_is_read_is_whole(cut: int) -> None:
    """The reader meets the end in the middle of a write; the rest is there when it asks again."""
    reader = read_events(Pieces(DATA[:cut], b"", DATA[cut:]))

    assert (ROWS, report_of(ROWS)) == (list(reader), reader.report)


def test_a_reader_that_lags_sees_what_was_appended_meanwhile(tmp_path: Path) -> None:
    """Rows appended before the reader comes to the end belong to its answer."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(ROWS[0]))
    reader = read_events(path)
    first = next(reader)
    with path.open("ab") as file:
        file.write(lines(*ROWS[1:]))

    assert ROWS == [first, *reader]


def test_a_text_file_with_invalid_bytes_is_survived(tmp_path: Path) -> None:
    """``open(path)`` is what people type: its decoder must not end the reading."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0)) + b"\xff\n" + lines(row(1)))
    with path.open(encoding="utf-8") as file:
        reader = read_events(file)

        assert [row(0), row(1)] == list(reader)
        assert {2} == {damage.line for damage in reader.report.damages}


def test_a_text_file_has_a_torn_tail_like_a_binary_one() -> None:
    """Only the last line lacks its newline; the same file is judged alike, however it was opened."""
    data = lines(row(0)) + text(row(1))[:20]
    reader = read_events(io.StringIO(data.decode()))

    assert [row(0)] == list(reader)
    assert faults(read(data)[1]) == faults(reader.report)


def test_a_member_appended_to_a_torn_archive_is_not_passed_over_in_silence() -> None:
    """What a damaged archive does not give is named."""
    torn = gzip.compress(DATA)[:-12]
    reader = read_events(io.BytesIO(torn + gzip.compress(lines(row(3)))))
    list(reader)

    assert not reader.report.intact


@pytest.fixture
def _short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "MAX_LINE_BYTES", 400)


@pytest.mark.usefixtures("_short_lines")
def test_a_run_of_nul_longer_than_a_piece_does_not_cost_the_row_after_it() -> None:
    """A file system can leave gigabytes of NUL in front of the next run's first row."""
    rows, report = read(lines(row(0)) + b"\0" * 1000 + lines(row(0, "b"), row(1, "b")))

    assert [row(0), row(0, "b"), row(1, "b")] == rows
    assert {Kind.NUL_BYTES} == set(report.damage_counts)


@pytest.mark.usefixtures("_short_lines")
def test_damage_after_a_long_line_has_its_physical_line() -> None:
    """Pieces of one line are one line: the number is that of an editor."""
    _, report = read(b"\0" * 1000 + lines(row(0)) + b"oops\n")

    assert (2, 2) == (report.lines, report.damages[-1].line)


@pytest.mark.usefixtures("_short_lines")
def test_a_line_longer_than_a_piece_gives_no_row_that_was_not_whole() -> None:
    """Neither its pieces nor the objects inside it pass for rows, and the lines after it arrive."""
    long = row(0, pad="x" * 900, quoted=row(7, "never"), tail="x" * 30)
    rows, report = read(lines(long, row(1)))

    assert [row(1)] == [found for found in rows if found != long]
    assert (long in rows) is report.intact


SCRIPT = """
import sys
from rtrace_otel.analysis.reading.reader import read_events

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

reader = read_events(sys.argv[1])
for count, _ in enumerate(reader, 1):
    if count == 20_000:
        before = resident()
print(count, resident() - before, reader.report.intact)
"""


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    """Three hundred thousand rows need no more memory than the first twenty thousand."""
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=1) if name.endswith("gz") else path.open("wb") as file:
        for start in range(0, 300_000, 1000):
            file.write(b"".join(b'{"event":"attempt_sealed","t":1.5,"run":"a","seq":%d,"attempt_id":"%d"}\n' % (n, n)
                                for n in range(start, start + 1000)))  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], check=True, capture_output=True, text=True, timeout=600
    )
    count, grown, intact = done.stdout.split()

    assert ("300000", "True") == (count, intact)
    assert int(grown) < 4 * 2**20
