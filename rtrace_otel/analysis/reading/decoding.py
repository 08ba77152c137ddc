"""From lines to rows, one line at a time, with a tally of what was wrong with them: the exact way to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec

from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading.damage import MAX_SEQ, Damage, DamageKind, Tally
from rtrace_otel.analysis.reading.dialect import is_event, is_of_two, to_vocabulary
from rtrace_otel.analysis.reading.recover import Recovered, clipped, recover
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import EVENTS_BY_NAME, Row
from rtrace_otel.spans.otlp_found import Glance
from rtrace_otel.spans.otlp_glance import Glancer
from rtrace_otel.spans.otlp_json import carried_spans
from rtrace_otel.spans.otlp_lines import BEGIN, spans_in
from rtrace_otel.spans.ranges import Ranges
from rtrace_otel.spans.unproject import CarriedSpan, Unprojector

HARMLESS: Final = frozenset({DamageKind.BYTE_ORDER_MARK})
"""Damage that loses nothing and that ``strict`` lets pass."""

NOT_PLAIN: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for a line that is not one whole row of the form it expects."""

BEGINNINGS: Final = {name: f'{{"event":"{name}"'.encode() for name in EVENTS_BY_NAME}

_decode = msgspec.json.Decoder().decode


def decode_row(line: bytes) -> Row | None:
    """The row of a line, if it is a plain one of ours; ``None`` if it takes a :class:`LineDecoder`."""
    try:
        row: Row = _decode(line)
    except NOT_PLAIN:
        return None
    plain = type(row) is dict and type(row.get("seq")) is int and is_event(row) and "resourceSpans" not in row
    if not plain or is_of_two(line, row["event"]):
        return None
    counts = row.get("tokens_by_version")
    if counts:
        try:
            versions = {int(version): tokens for version, tokens in counts.items()}
        except (AttributeError, ValueError):
            return None
        if len(versions) != len(counts):
            return None
        row["tokens_by_version"] = versions
    return row


class LineDecoder:
    """Turns lines into rows and counts what it meets.

    Args:
        name: What to call the source in messages.
        strict: Raise at the first damage instead of going on.

    Attributes:
        tally: What was met so far.
        in_long_line: Whether the next line is the rest of one that was too long.
    """

    def __init__(self, name: str, *, strict: bool = False) -> None:
        """Begin with no line seen."""
        self.tally = Tally(name)
        self.in_long_line = False
        self._unprojector = Unprojector()
        self._glancer: Glancer | None = None
        self._seen: dict[str, Ranges] = {}
        self._strict = strict

    def rows_of(
        self, lines: Iterable[bytes], needed: AbstractSet[str] | None = None, *, counted: bool = True
    ) -> Iterator[Row]:
        """The rows of the lines that come next, each with its newline if it has one.

        Args:
            lines: The lines.
            needed: The events that somebody needs; rows of others may be left out.
            counted: Whether the tally matters for rows that are left out.

        Raises:
            TraceFileError: One is damaged, and the decoder is strict.
        """
        tally = self.tally
        next_seq = tally.next_seq
        for line in lines:
            if self.in_long_line:
                yield from self._rest_of_long_line(line)
                continue
            tally.lines += 1
            if line.startswith(BEGIN) and (rows := self._rows_of_otlp(line, needed, counted=counted)) is not None:
                yield from rows
                continue
            try:
                row = _decode(line)
            except NOT_PLAIN:
                yield from self._recovered(line)
                continue
            if (  # as nearly every line
                type(row) is dict
                and type(seq := row.get("seq")) is int
                and type(event := row.get("event")) is str
                and type(run := row.get("run")) is str
                and seq == next_seq.get(run, 0)
                and "t" in row
                and line.startswith(BEGINNINGS.get(event, b"\n"))
                and "resourceSpans" not in row
                and not line.endswith(b"\r\n")
            ):
                next_seq[run] = seq + 1
                tally.runs[run] = tally.runs.get(run, 0) + 1
                tally.rows += 1
                if "tokens_by_version" in row:
                    self.restore_versions(row)
                yield row
            else:
                yield from self._looked_at(row, line)

    def _looked_at(self, row: Any, line: bytes) -> Iterator[Row]:
        """The row of a line, or the rows, whatever JSON value it is."""
        tally = self.tally
        if type(row) is dict and "resourceSpans" in row:
            yield from self._rows_of_spans(carried_spans(row))
            return
        if type(row) is not dict or not is_event(row):
            self.damaged(Damage(tally.lines, DamageKind.NOT_AN_EVENT, _preview(line), 0))
            return
        event = row.get("event")
        if not line.startswith(BEGINNINGS.get(str(event), b"\n")) and is_of_two(line, event):
            self.damaged(Damage(tally.lines, DamageKind.TORN_ROW, _preview(line), 0))
            return
        if line.endswith(b"\r\n"):
            tally.crlf_lines += 1
        seq = row.get("seq")
        if type(seq) is int and seq == tally.next_seq.get(row["run"], 0):
            tally.add_rows({row["run"]: (seq, 1)})
            if "tokens_by_version" in row:
                self.restore_versions(row)
            yield row
        else:
            yield self._accepted(row)

    def _recovered(self, line: bytes) -> Iterator[Row]:
        tally = self.tally
        if not line.strip():
            tally.blank_lines += 1
            return
        if line.endswith(b"\r\n"):
            tally.crlf_lines += 1
        if len(line) >= batches.MAX_LINE_BYTES and not line.endswith(b"\n"):
            self.in_long_line = True
            kind = DamageKind.TOO_LONG if line.strip(b"\0") else DamageKind.NUL_BYTES
            self.damaged(Damage(tally.lines, kind, f"{len(line)} bytes without a newline", 0))
            return
        yield from self._saved(recover(line, first=tally.lines == 1, last=not line.endswith(b"\n")))

    def _rest_of_long_line(self, piece: bytes) -> Iterator[Row]:
        """Pieces of one line: only its last one can hold a row that is whole."""
        if piece.endswith(b"\n") or len(piece) < batches.MAX_LINE_BYTES:
            self.in_long_line = False
            yield from self._saved(recover(piece, rest=True))

    def _saved(self, found: Recovered) -> Iterator[Row]:
        tally = self.tally
        for kind, detail in found.faults:
            self.damaged(Damage(tally.lines, kind, detail, len(found.rows)))
        for row in found.rows:
            yield self._accepted(row)

    def _rows_of_otlp(self, line: bytes, needed: AbstractSet[str] | None, *, counted: bool) -> Iterable[Row] | None:
        """The rows in a line of OTLP JSON, if it is of the usual shape."""
        if needed is not None:
            if self._glancer is None or (self._glancer.wanted, self._glancer.counted) != (needed, counted):
                self._glancer = Glancer(needed, counted=counted)
            glanced = self._glancer.glance(line, self._unprojector.runs)
            rows = None if glanced is None else self.rows_at_a_glance(glanced)
            if rows is not None:
                return rows
        spans = spans_in(line)
        return None if spans is None else self._rows_of_spans(spans)

    def rows_at_a_glance(self, glanced: Glance) -> list[Row] | None:
        """The rows of a line that are asked for, from what was found in it; all of its rows are counted.

        Returns:
            ``None`` if a run in it was not introduced yet: the line must be read in full.
        """
        if not glanced.numbers.keys() <= self._unprojector.runs:
            return None
        known = {run: self._counted(run, numbers) for run, numbers in glanced.numbers.items()}
        rows: list[Row] = []
        for item in glanced.items:
            if isinstance(item, dict):
                if item["seq"] not in known[item["run"]]:
                    rows.append(item)
                continue
            for row in self._unprojector.rows_of(item):
                if row["seq"] not in known[row["run"]]:
                    if "tokens_by_version" in row:
                        self.restore_versions(row)
                    rows.append(row)
        return rows

    def _counted(self, run: str, numbers: list[int]) -> set[int]:
        """Count rows with these numbers; those that came before."""
        distinct, known = self._seen_of(run).take(numbers)
        new = distinct - len(known)
        self.tally.runs[run] = self.tally.runs.get(run, 0) + new
        self.tally.rows += new
        return known

    def _seen_of(self, run: str) -> Ranges:
        return self._seen.setdefault(run, Ranges())

    def _rows_of_spans(self, spans: Iterable[CarriedSpan]) -> Iterator[Row]:
        """The rows in a line of OTLP JSON; spans that are not ours are passed over."""
        for span in spans:
            for row in self._unprojector.rows_of(span):
                self.tally.unordered.add(row["run"])
                if not self._came_before(row):
                    yield self._accepted(row)

    def _came_before(self, row: Row) -> bool:
        """Whether the row was in a span already: a collector writes a span that is sent again once more."""
        seq = row.get("seq")
        if type(seq) is not int or seq < 0:
            return False
        seen = self._seen_of(row["run"])
        if seq in seen:
            return True
        seen.add(seq)
        return False

    def _accepted(self, row: Row) -> Row:
        """Count a row that is not simply the next one of its run."""
        tally = self.tally
        seq = row.get("seq")
        if row.get("from_spans") is True and row.get("event") == "run_started":
            tally.unordered.add(row["run"])
        elif type(seq) is not int and row.get("run") not in tally.unordered:
            row = to_vocabulary(row)
        run = row["run"]
        tally.runs[run] = tally.runs.get(run, 0) + 1
        tally.rows += 1
        if type(seq) is int and run not in tally.unordered:
            if seq > MAX_SEQ:
                self.damaged(Damage(tally.lines, DamageKind.BAD_FIELD, f"seq: expected at most {MAX_SEQ:,}", 1))
                # It stands where the next row was to be: that one is damaged, and none is missing.
                seq = tally.next_seq.get(run, 0)
            tally.unexpected_seq(run, seq, tally.lines)
        if "tokens_by_version" in row:
            self.restore_versions(row)
        return row

    def restore_versions(self, row: Row) -> None:
        """Make the versions in a row's ``tokens_by_version`` whole numbers again; what is none is damage."""
        counts = row["tokens_by_version"]
        if counts is None or counts == {}:
            return
        versions: dict[int, Any] = {}
        if isinstance(counts, dict):
            try:
                versions = {int(version): tokens for version, tokens in counts.items()}
            except (TypeError, ValueError):
                versions = {}
        if versions and len(versions) == len(counts):
            row["tokens_by_version"] = versions
        else:
            detail = f"tokens_by_version: expected an object with versions as keys, found {clipped(repr(counts))}"
            self.damaged(Damage(self.tally.lines, DamageKind.BAD_FIELD, detail, 1))

    def damaged(self, damage: Damage) -> None:
        """Count a damage.

        Raises:
            TraceFileError: The decoder is strict, and the damage is not harmless.
        """
        self.tally.add_damage(damage)
        if self._strict and damage.kind not in HARMLESS:
            raise TraceFileError(
                self.tally.source,
                f"{damage.kind.value}: {damage.detail}",
                line=damage.line,
                hint="Read without --strict (strict=True), the rest is given and the damage reported",
            )


def _preview(line: bytes) -> str:
    return clipped(line.decode("utf-8", "replace").strip())
