"""Events of a trace file, in file order, with a report of what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from rtrace_otel.analysis import source
from rtrace_otel.analysis.damage import Damage, DamageKind, ReadReport, Tally
from rtrace_otel.analysis.dialect import is_event, to_vocabulary
from rtrace_otel.analysis.recover import Recovered, clipped, recover
from rtrace_otel.analysis.source import ARCHIVE_ERRORS, Source, open_lines
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from rtrace_otel.spans.otlp_json import carried_spans
from rtrace_otel.spans.ranges import Ranges
from rtrace_otel.spans.unproject import Unprojector

HARMLESS: Final = frozenset({DamageKind.BYTE_ORDER_MARK})
"""Damage that loses nothing and that ``strict`` lets pass."""

_decode = msgspec.json.Decoder().decode


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
        self._in_long_line = False
        self._unprojector = Unprojector()
        self._seen: dict[str, Ranges] = {}
        self._strict = strict
        self._tally = Tally(self._lines.name)
        self._rows = self._read()

    @property
    def report(self) -> ReadReport:
        """What was met so far."""
        return self._tally.report()

    @property
    def line(self) -> int:
        """Physical line of the row just given, counted from 1; 0 before the first."""
        return self._tally.lines

    def __next__(self) -> Row:
        """The next event."""
        return next(self._rows)

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
        yield from self._rows_of_lines(lines)

    def _read(self) -> Any:
        try:
            yield from self._rows_of_lines(self._lines.lines)
        except ARCHIVE_ERRORS as error:
            self._damaged(Damage(self._tally.lines + 1, DamageKind.TORN_ARCHIVE, str(error), 0))
        except OSError as error:
            raise TraceFileError(
                self._tally.source, f"cannot be read on: {error.strerror or error}", line=self._tally.lines + 1
            ) from error
        finally:
            self._lines.close()

    def _rows_of_lines(self, lines: Iterable[bytes]) -> Iterator[Row]:
        tally = self._tally
        next_seq = tally.next_seq
        for line in lines:
            if self._in_long_line:
                yield from self._rest_of_long_line(line)
                continue
            tally.lines += 1
            try:
                row = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield from self._recovered(line)
                continue
            if type(row) is dict and "resourceSpans" in row:
                yield from self._rows_of_spans(row)
                continue
            if type(row) is not dict or not is_event(row):
                self._damaged(Damage(tally.lines, DamageKind.NOT_AN_EVENT, _preview(line), 0))
                continue
            if line.endswith(b"\r\n"):
                tally.crlf_lines += 1
            seq = row.get("seq")
            run = row["run"] if type(seq) is int else ""
            if type(seq) is int and seq == next_seq.get(run, 0):
                next_seq[run] = seq + 1
                tally.runs[run] = tally.runs.get(run, 0) + 1
                tally.rows += 1
                if "tokens_by_version" in row:
                    self._restore_versions(row)
                yield row
            else:
                yield self._accepted(row)

    def _recovered(self, line: bytes) -> Iterator[Row]:
        tally = self._tally
        if not line.strip():
            tally.blank_lines += 1
            return
        if line.endswith(b"\r\n"):
            tally.crlf_lines += 1
        if len(line) >= source.MAX_LINE_BYTES and not line.endswith(b"\n"):
            self._in_long_line = True
            kind = DamageKind.TOO_LONG if line.strip(b"\0") else DamageKind.NUL_BYTES
            self._damaged(Damage(tally.lines, kind, f"{len(line)} bytes without a newline", 0))
            return
        yield from self._saved(recover(line, first=tally.lines == 1, last=not line.endswith(b"\n")))

    def _rest_of_long_line(self, piece: bytes) -> Iterator[Row]:
        """Pieces of one line: only its last one can hold a row that is whole."""
        if piece.endswith(b"\n") or len(piece) < source.MAX_LINE_BYTES:
            self._in_long_line = False
            yield from self._saved(recover(piece, rest=True))

    def _saved(self, found: Recovered) -> Iterator[Row]:
        tally = self._tally
        for kind, detail in found.faults:
            self._damaged(Damage(tally.lines, kind, detail, len(found.rows)))
        for row in found.rows:
            yield self._accepted(row)

    def _rows_of_spans(self, document: Row) -> Iterator[Row]:
        """The rows in a line of OTLP JSON; spans that are not ours are passed over."""
        for span in carried_spans(document):
            for row in self._unprojector.rows_of(span):
                self._tally.unordered.add(row["run"])
                if not self._came_before(row):
                    yield self._accepted(row)

    def _came_before(self, row: Row) -> bool:
        """Whether the row was in a span already: a collector writes a span that is sent again once more."""
        seq = row.get("seq")
        if type(seq) is not int or seq < 0:
            return False
        seen = self._seen.setdefault(row["run"], Ranges())
        if seq in seen:
            return True
        seen.add(seq)
        return False

    def _accepted(self, row: Row) -> Row:
        """Count a row that is not simply the next one of its run."""
        tally = self._tally
        seq = row.get("seq")
        if row.get("from_spans") is True:
            tally.unordered.add(row["run"])
        elif type(seq) is not int and row.get("run") not in tally.unordered:
            row = to_vocabulary(row)
        run = row["run"]
        tally.runs[run] = tally.runs.get(run, 0) + 1
        tally.rows += 1
        if type(seq) is int and run not in tally.unordered:
            tally.unexpected_seq(run, seq, tally.lines)
        if "tokens_by_version" in row:
            self._restore_versions(row)
        return row

    def _restore_versions(self, row: Row) -> None:
        counts = row["tokens_by_version"]
        if counts is None or counts == {}:
            return
        versions: dict[int, Any] = {}
        if isinstance(counts, dict):
            with suppress(TypeError, ValueError):
                versions = {int(version): tokens for version, tokens in counts.items()}
        if versions and len(versions) == len(counts):
            row["tokens_by_version"] = versions
        else:
            detail = f"tokens_by_version: expected an object with versions as keys, found {clipped(repr(counts))}"
            self._damaged(Damage(self._tally.lines, DamageKind.BAD_FIELD, detail, 1))

    def _damaged(self, damage: Damage) -> None:
        self._tally.add_damage(damage)
        if self._strict and damage.kind not in HARMLESS:
            raise TraceFileError(
                self._tally.source,
                f"{damage.kind.value}: {damage.detail}",
                line=damage.line,
                hint="Read without --strict (strict=True), the rest is given and the damage reported",
            )


def _preview(line: bytes) -> str:
    return clipped(line.decode("utf-8", "replace").strip())
