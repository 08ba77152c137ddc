"""The tables ``attempts`` and ``groups``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from rtrace_otel.analysis.flow.flow import Ended, Flow
from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord
from rtrace_otel.columns.source import Sink
from rtrace_otel.columns.types import Record
from rtrace_otel.events import Row

_ATTEMPT_FIELDS: Final = tuple(field.name for field in fields(AttemptRecord))
_GROUP_FIELDS: Final = tuple(field.name for field in fields(GroupRecord))


class FlowRecords:
    """Gives each attempt and group once it has ended, and at the end those that have not."""

    def __init__(self, sink: Sink) -> None:
        """Give records to a sink."""
        self._flow = Flow()
        self._sink = sink

    @property
    def calls_name_attempts(self) -> bool:
        """Whether a refit's calls could be told to belong to attempts; without that, ``refits_cut`` says nothing."""
        return self._flow.calls_name_attempts

    def add(self, row: Row, line: int) -> None:  # noqa: ARG002 - the protocol's signature
        """Take the next row of the file."""
        for ended in self._flow.add(row):
            self._give(ended)

    def finish(self) -> None:
        """Give what no row has ended."""
        for ended in self._flow.still_open():
            self._give(ended)

    def _give(self, ended: Ended) -> None:
        if ended.group is not None:
            self._sink("groups", _record(ended.group, _GROUP_FIELDS))
        for attempt in ended.attempts:
            self._sink("attempts", _record(attempt, _ATTEMPT_FIELDS))


def _record(value: Any, names: tuple[str, ...]) -> Record:
    return {name: getattr(value, name) for name in names}
