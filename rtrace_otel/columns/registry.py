"""All tables, in the order of the documentation."""

from __future__ import annotations

from typing import Final

from rtrace_otel.columns.specs_of_rollouts import ACCOUNTS, ATTEMPTS, GROUPS, LOSSES, STEP_ACCOUNTS
from rtrace_otel.columns.specs_of_runs import EVENTS, RESTORES, RUNS
from rtrace_otel.columns.specs_of_training import CHECKPOINTS, REFITS, STEPS, TOKEN_AGES

TABLES: Final = {
    table.name: table
    for table in (
        EVENTS,
        RUNS,
        ATTEMPTS,
        GROUPS,
        STEPS,
        TOKEN_AGES,
        REFITS,
        CHECKPOINTS,
        RESTORES,
        LOSSES,
        ACCOUNTS,
        STEP_ACCOUNTS,
    )
}
"""Every table by its name."""
