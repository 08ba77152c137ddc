"""Events of a trace file, in file order, with a report of what was wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

import msgspec

from rtrace_otel.analysis.reading.batches import batches
from rtrace_otel.analysis.reading.damage import Damage, DamageKind, ReadReport
from rtrace_otel.analysis.reading.decoding import LineDecoder, decode_row
from rtrace_otel.analysis.reading.narrow import Decode, Narrow, Part
from rtrace_otel.analysis.reading.narrowing import Shaped
from rtrace_otel.analysis.reading.parallel import jobs_for, parts_of
from rtrace_otel.analysis.reading.picking import Picker
from rtrace_otel.analysis.reading.plain import every_row
from rtrace_otel.analysis.reading.recount import PassedOver
from rtrace_otel.analysis.reading.source import Source, open_lines
from rtrace_otel.analysis.reading.unpack import ARCHIVE_ERRORS
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row


def read_events(path: Source, *, strict: bool = False, one_pass: bool = False, jobs: int = 1) -> EventReader:
    """Yield the events of a trace file in the order they were written.

    Args:
        path: A path, ``-`` for standard input, a folder that holds ``rollout_trace.jsonl``, a file object, or an
            iterable of lines; gzip and zstd are recognised. Lines may also be OTLP JSON with rollout spans, as the
            collector's file exporter writes them.
        strict: Raise at the first damage instead of going on.
        one_pass: The report will be asked for: a reading of only some events counts the others on its way, instead of
            reading the file once more for the report. Without it such a reading takes half the time.
        jobs: Processes that read a large file for such a reading, at most.

    Returns:
        An iterator over rows (``dict``); its ``report`` says what was met. Versions in ``tokens_by_version`` are ints.

    Raises:
        TraceFileError: The file cannot be opened; later, with ``strict``, it is damaged.
    """
    return EventReader(path, strict=strict, one_pass=one_pass, jobs=jobs)


class EventReader(Iterator[Row]):
    """Iterates over the events of a source once; memory does not grow with the source.

    Args:
        path: As for :func:`read_events`.
        strict: As for :func:`read_events`.
        one_pass: As for :func:`read_events`.
        jobs: As for :func:`read_events`.
    """

    def __init__(self, path: Source, *, strict: bool = False, one_pass: bool = False, jobs: int = 1) -> None:
        """Open the source."""
        self._one_pass = one_pass
        self._jobs = jobs
        self._lines = open_lines(path)
        self._strict = strict
        self._decoder = LineDecoder(self._lines.name, strict=strict)
        self._begun = False
        self._passed_over: PassedOver | None = None
        read = self._lines.read
        every = self._decoder.rows_of(self._lines.lines) if read is None else every_row(self._decoder, batches(read))
        self._rows = self._guarded(every)

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

    def __iter__(self) -> Iterator[Row]:  # noqa: PYI034 - a loop need not come through here for each row
        """The events that come next."""
        self._begun = True
        rows: Iterator[Row] = self._rows
        return rows

    def __next__(self) -> Row:
        """The next event."""
        self._begun = True
        return next(self._rows)

    def only(self, events: Collection[str]) -> Iterator[Row]:
        """The rows of some events, in file order; the rest of the source is used up by them.

        If nothing was read of a file yet, rows of other events are not decoded, or only as far as the report takes.

        Args:
            events: Names of events.
        """
        return self._narrowed(frozenset(events), decode_row)

    def shaped(self, decoder: msgspec.json.Decoder[Shaped], events: Collection[str]) -> Iterator[Row | Shaped]:
        """The same as :meth:`only`, with structs in place of dicts where a row has the types that they ask for.

        Args:
            decoder: See :mod:`rtrace_otel.analysis.reading.shapes`.
            events: Names of events.
        """
        return self._narrowed(frozenset(events), decoder.decode)

    def _narrowed(self, wanted: frozenset[str], decode: Decode) -> Iterator[Any]:
        read, path = self._lines.read, self._lines.path
        if self._begun or self._strict or read is None:
            return (row for row in self if row["event"] in wanted)
        self._begun = True
        counted = self._one_pass or path is None
        parts = self._parts(read, wanted, counted=counted)
        if path is not None and not counted:
            self._passed_over = PassedOver(path)
            parts = self._passed_over.measured(parts)
        self._rows = self._guarded(Narrow(self._decoder, wanted, decode, counted=counted).rows_of_parts(parts))
        rows: Iterator[Any] = self._rows
        return rows

    def _parts(self, read: Callable[[int], bytes], wanted: frozenset[str], *, counted: bool) -> Iterator[Part]:
        path, plain = self._lines.path, self._lines.plain
        if path is not None and plain is not None and jobs_for(path, self._jobs) > 1:
            yield from parts_of(path, plain, self._jobs, wanted, counted=counted)
        picker = Picker(wanted, counted=counted)
        for lines, size in batches(read):
            yield picker.pick(lines, size), lines.__iter__

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
