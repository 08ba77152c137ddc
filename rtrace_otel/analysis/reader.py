"""Events of a trace file, in file order, with a report of what was wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

from rtrace_otel.analysis import batches as reading
from rtrace_otel.analysis.batches import batches
from rtrace_otel.analysis.damage import Damage, DamageKind, ReadReport
from rtrace_otel.analysis.decoding import LineDecoder
from rtrace_otel.analysis.passing import Passing
from rtrace_otel.analysis.recount import PassedOver
from rtrace_otel.analysis.source import ARCHIVE_ERRORS, Source, open_lines
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row


def read_events(path: Source, *, strict: bool = False) -> EventReader:
    """Yield the events of a trace file in the order they were written.

    Args:
        path: A path, ``-`` for standard input, a folder that holds ``rollout_trace.jsonl``, a file object, or an
            iterable of lines; gzip is recognised. Lines may also be OTLP JSON with rollout spans, as the collector's
            file exporter writes them.
        strict: Raise at the first damage instead of going on.

    Returns:
        An iterator over rows (``dict``); its ``report`` says what was met. Versions in ``tokens_by_version`` are ints.

    Raises:
        TraceFileError: The file cannot be opened; later, with ``strict``, it is damaged.
    """
    return EventReader(path, strict=strict)


class EventReader(Iterator[Row]):
    """Iterates over the events of a source once; memory does not grow with the source.

    Args:
        path: As for :func:`read_events`.
        strict: As for :func:`read_events`.
    """

    def __init__(self, path: Source, *, strict: bool = False) -> None:
        """Open the source."""
        self._lines = open_lines(path)
        self._strict = strict
        self._decoder = LineDecoder(self._lines.name, strict=strict)
        self._begun = False
        self._passed_over: PassedOver | None = None
        self._rows = self._guarded(self._decoder.rows_of(self._lines.lines))

    @property
    def report(self) -> ReadReport:
        """What was met so far.

        After :meth:`only` on a file, the rows that were passed over are counted now: the file is read once more, as far
        as it was read.

        Raises:
            TraceFileError: That file is another one by now.
        """
        passed_over = self._passed_over
        return self._decoder.tally.report() if passed_over is None else passed_over.report()

    @property
    def line(self) -> int:
        """Physical line of the row just given, counted from 1; 0 before the first."""
        return self._decoder.tally.lines

    def __next__(self) -> Row:
        """The next event."""
        self._begun = True
        return next(self._rows)

    def only(self, events: Collection[str]) -> Iterator[Row]:
        """The rows of some events, in file order; the rest of the source is used up by them.

        If nothing was read of a file yet, rows of other events are passed over without decoding them.

        Args:
            events: Names of events.
        """
        wanted = frozenset(events)
        read, path = self._lines.read, self._lines.path
        if self._begun or self._strict or read is None or path is None:
            return (row for row in self if row["event"] in wanted)
        self._begun = True
        self._passed_over = PassedOver(path)
        self._rows = self._guarded(self._narrow(read, wanted, self._passed_over))
        rows: Iterator[Row] = self._rows
        return rows

    def __enter__(self) -> Self:
        """The reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close what the reader opened."""
        self.close()

    def close(self) -> None:
        """Close what the reader opened; reading on gives no more events."""
        self._rows.close()
        self._lines.close()

    def more(self, lines: Iterable[bytes]) -> Iterator[Row]:
        """The events of lines that came after those of the source: for a file that grows.

        Args:
            lines: With their newlines; counts, damages and line numbers go on from the lines before.
        """
        yield from self._decoder.rows_of(lines)

    def _narrow(self, read: Callable[[int], bytes], wanted: frozenset[str], passed_over: PassedOver) -> Iterator[Row]:
        decoder, passing = self._decoder, Passing(wanted)
        before = 0
        for lines, size in batches(read):
            passed_over.size += size
            if decoder.in_long_line or len(lines[0]) >= reading.MAX_LINE_BYTES:
                yield from (row for row in decoder.rows_of(lines) if row["event"] in wanted)
            else:
                at = 0
                for line in passing.read(lines):
                    at = lines.index(line, at)
                    decoder.tally.lines = before + at
                    at += 1
                    for row in decoder.rows_of((line,)):
                        if row["event"] in wanted:
                            yield row
            before += len(lines)
            decoder.tally.lines = before

    def _guarded(self, rows: Iterator[Row]) -> Any:
        """The rows; what goes wrong with the source itself is damage, or is said in the words of this package."""
        tally = self._decoder.tally
        try:
            yield from rows
        except ARCHIVE_ERRORS as error:
            if self._passed_over is not None:
                self._passed_over.broken = True
            self._decoder.damaged(Damage(tally.lines + 1, DamageKind.TORN_ARCHIVE, str(error), 0))
        except OSError as error:
            raise TraceFileError(
                tally.source, f"cannot be read on: {error.strerror or error}", line=tally.lines + 1
            ) from error
        finally:
            self._lines.close()
