"""The table ``runs``."""

from __future__ import annotations

from dataclasses import asdict

from rtrace_otel.analysis.checked import between
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.analysis.steps import StepsFold
from rtrace_otel.columns.source import Sink
from rtrace_otel.events import Row


class RunRecords:
    """Gives the runs at the end of the file.

    Args:
        steps: Follows the wall time of the same pass.
    """

    def __init__(self, sink: Sink, steps: StepsFold) -> None:
        """Give records to a sink."""
        self._sink = sink
        self._runs = RunFold()
        self._steps = steps

    def add(self, row: Row, line: int) -> None:  # noqa: ARG002 - the protocol's signature
        """Take the next row of the file."""
        self._runs.add(row)

    def finish(self) -> None:
        """Give all runs."""
        times = self._steps.result().runs
        for place, run in enumerate(self._runs.result()):
            time = times.get(run.run)
            lasted = between(run.started, run.last_row)
            self._sink(
                "runs",
                {"place": place, **asdict(run), "lasted_s": lasted, **(asdict(time) if time is not None else {})},
            )
