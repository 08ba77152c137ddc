"""The report of a file of which a narrowed reading passed over most rows: made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rtrace_otel.analysis.reading.batches import batches, up_to
from rtrace_otel.analysis.reading.damage import Damage, DamageKind, ReadReport
from rtrace_otel.analysis.reading.decoding import LineDecoder
from rtrace_otel.analysis.reading.narrow import Narrow, Part
from rtrace_otel.analysis.reading.source import open_lines
from rtrace_otel.analysis.reading.unpack import ARCHIVE_ERRORS
from rtrace_otel.errors import TraceFileError


class PassedOver:
    """How far a file was read.

    Args:
        path: The file.

    Attributes:
        size: Bytes read of it so far; of a compressed file, of what it holds.
        broken: Whether the archive broke off behind them.
    """

    def __init__(self, path: Path) -> None:
        """Remember which file it is."""
        self._path = path
        self._identity = _identity(path)
        self.size = 0
        self.broken = False
        self._report: tuple[int, ReadReport] | None = None

    def measured(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Parts of the file as they are read."""
        for picked, lines in parts:
            self.size += picked.size
            yield picked, lines

    def report(self) -> ReadReport:
        """What stands in these bytes.

        Raises:
            TraceFileError: The file cannot be read any more, or another one has taken its place.
        """
        if self._report is None or self._report[0] != self.size:
            self._report = (self.size, self._recounted())
        return self._report[1]

    def _recounted(self) -> ReadReport:
        if _identity(self._path) != self._identity:
            raise TraceFileError(
                str(self._path), "was replaced after it was read; what was wrong with it can no longer be told"
            )
        opened = open_lines(self._path)
        assert opened.read is not None, self._path
        decoder = LineDecoder(opened.name)
        try:
            read = opened.read if self.broken else up_to(self.size, opened.read)
            for _ in Narrow(decoder, frozenset()).rows(batches(read)):
                pass
        except ARCHIVE_ERRORS as error:
            decoder.damaged(Damage(decoder.tally.lines + 1, DamageKind.TORN_ARCHIVE, str(error), 0))
        finally:
            opened.close()
        return decoder.tally.report()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
