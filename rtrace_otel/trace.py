"""Drop-in for ``nemo_rl.algorithms.rollout_checkpointing.trace``: the same names, the same signatures.

``python -m rtrace_otel.trace FILE`` prints each step's batch age.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rtrace_otel.analysis.age.batch_age import (
    BATCH_AGE_TOKENS_METRIC,
    BATCH_AGE_VERSION_SUM_METRIC,
    batch_age_by_step,
    batch_age_group_metrics,
    pop_batch_age,
    tokens_by_version,
)
from rtrace_otel.analysis.age.refit_cuts import RefitCuts
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.errors import RTraceError
from rtrace_otel.events import ROLLOUT_TRACE_FILENAME
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.report.damage import damage_sentences

__all__ = [
    "BATCH_AGE_TOKENS_METRIC",
    "BATCH_AGE_VERSION_SUM_METRIC",
    "ROLLOUT_TRACE_FILENAME",
    "RefitCuts",
    "RolloutTrace",
    "batch_age_by_step",
    "batch_age_group_metrics",
    "main",
    "pop_batch_age",
    "read_events",
    "tokens_by_version",
]


def main() -> None:
    """Print the batch age of each step of the trace file named on the command line.

    Raises:
        SystemExit: With status 2 if not one file was named, 1 if it cannot be read.
    """
    usage = f"usage: python -m rtrace_otel.trace FILE   ({ROLLOUT_TRACE_FILENAME}, its folder, or -)"
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(usage)
        raise SystemExit(0)
    if len(sys.argv) != 2:
        print(usage, file=sys.stderr)
        raise SystemExit(2)
    source = sys.argv[1]
    try:
        reader = read_events(source if source == "-" else Path(source))
        ages = batch_age_by_step(reader)
    except RTraceError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    for sentence in damage_sentences(reader.report):
        print(f"note: {source}: {sentence}", file=sys.stderr)
    for step, age in sorted(ages.items()):
        print(f"step {step}: batch age {age:.4f}")


if __name__ == "__main__":
    main()
