"""Compressed traces: gzip and zstd give the rows that they hold, and say what is wrong with them."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import ROLLOUT_TRACE_FILENAME
from tests.analysis.rows import lines, row

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROWS = [row(seq, text=f"{seq * 7919:x}") for seq in range(2000)]
PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstd.compress}


@pytest.mark.parametrize("kind", PACK)
def test_the_rows_of_an_archive(kind: str, tmp_path: Path) -> None:
    """By its path, by its folder, and as a file object; and two archives one after the other are one."""
    whole = PACK[kind](lines(*ROWS[:1000])) + PACK[kind](lines(*ROWS[1000:]))
    path = tmp_path / f"{ROLLOUT_TRACE_FILENAME}.{kind}"
    path.write_bytes(whole)

    assert ROWS == list(read_events(path))
    assert ROWS == list(read_events(tmp_path))
    assert ROWS == list(read_events(io.BytesIO(whole)))


@pytest.mark.parametrize("kind", PACK)
def test_a_torn_archive_gives_what_stands_before_the_tear(kind: str) -> None:
    """The tear is named; the rows are the first ones, without a gap."""
    whole = PACK[kind](lines(*ROWS))
    reader = read_events(io.BytesIO(whole[: len(whole) - 3]))
    rows = list(reader)

    assert {DamageKind.TORN_ARCHIVE: 1} == reader.report.damage_counts
    assert rows == ROWS[: len(rows)]


@pytest.mark.parametrize("kind", PACK)
def test_bytes_changed_in_an_archive_are_damage(kind: str) -> None:
    """Not an error of another kind."""
    whole = bytearray(PACK[kind](lines(*ROWS)))
    whole[len(whole) // 2 : len(whole) // 2 + 40] = bytes(40)
    reader = read_events(io.BytesIO(bytes(whole)))
    list(reader)

    assert not reader.report.intact


def test_the_error_without_the_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that installs it can be copied."""
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)

    with pytest.raises(TraceFileError, match="is a zstd, and the package that reads it is not installed") as raised:
        read_events(io.BytesIO(zstd.compress(lines(*ROWS))))
    assert 'pip install "rtrace-otel[zstd]"' == raised.value.hint
