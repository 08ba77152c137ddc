"""The rules of time, order and the file itself."""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.check.rule import Rule, Severity

FILE_RULES: Final = (
    Rule(
        "RT701",
        "time goes back",
        Severity.ERROR,
        "A row's time is before that of an earlier row of its run. The recorder never writes that, even if the host's "
        "clock is stepped back; durations across this place are wrong.",
        "Rows of another origin in the file; lines that were edited or sorted.",
        "Look at the lines around this one.",
        on_unnumbered=False,
    ),
    Rule(
        "RT702",
        "clock stepped",
        Severity.INFO,
        "The host's clock was stepped while the run recorded. Times within the run stay in order; a step forward is in "
        "the durations that span it.",
        "Time synchronisation that was late, or a clock set by hand.",
        "Nothing, unless times are compared with those of another host.",
        on_spans=True,
    ),
    Rule(
        "RT801",
        "rows are missing",
        Severity.ERROR,
        "The sequence numbers of a run have a gap. Rows that were written are not in the file, so its numbers are "
        "lower bounds.",
        "A damaged or truncated file; a file without its first part; lines that were filtered out.",
        "Check the whole file, with all its parts in order. Findings that missing rows explain are warnings.",
        on_unnumbered=False,
    ),
    Rule(
        "RT802",
        "row out of order or doubled",
        Severity.ERROR,
        "A row's sequence number is not above the one before it in its run.",
        "A part of the file that was appended twice; parts in the wrong order; two processes that write under one run "
        "id.",
        "Put the parts in order, each once.",
        on_unnumbered=False,
    ),
    Rule(
        "RT803",
        "damaged line",
        Severity.WARNING,
        "A line is not one whole event. What could be read of it is in the numbers.",
        "A disk that was full; a network file system; other output in the same file.",
        "Look at the line. If rows are lost, RT801 says so.",
        on_spans=True,
    ),
    Rule(
        "RT804",
        "torn tail",
        Severity.INFO,
        "The last line of the file is not whole, or the file begins with a byte order mark. A kill in the middle of a "
        "write leaves the first; neither loses what was written before.",
        "A kill; a copy of a file that is still being written; an editor.",
        "Nothing.",
        on_spans=True,
    ),
    Rule(
        "RT805",
        "recorder lost rows",
        Severity.WARNING,
        "The recorder had to drop rows and says so (`trace_gap`). The numbers are lower bounds, and findings that "
        "missing rows explain are warnings.",
        "A full disk, a full queue, a file that was deleted under the recorder.",
        "See the reason in the row.",
        on_spans=True,
    ),
    Rule(
        "RT806",
        "row does not follow the schema",
        Severity.WARNING,
        "A field of a known event is missing or is not what the [schema](schema.md) asks for. What cannot be read of "
        "it is in no number.",
        "A recorder of one's own; a field of the user's under a name of the schema.",
        "Write the field as the schema says.",
        on_unnumbered=False,
    ),
)
"""In the order of their codes."""
