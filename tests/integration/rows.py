"""What a trace's rows say of groups and attempts, read without the code that makes spans of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rtrace_otel.events import Row


@dataclass(slots=True)
class Attempt:
    """An attempt in the run that opened it."""

    run: str
    attempt_id: str
    group_id: str
    generation: int
    kept: int = 0
    resumes: str | None = None
    outcome: str = "interrupted"
    reason: str | None = "run killed"
    tokens: int | None = None
    refits: int = 0


def attempts_in(events: Iterable[Row]) -> list[Attempt]:
    """Every attempt, in the order in which they were opened."""
    found: list[Attempt] = []
    open_now: dict[tuple[str, str], Attempt] = {}
    for row in events:
        key = (row["run"], str(row.get("attempt_id")))
        match row["event"]:
            case "attempt_dispatched" | "attempt_resumed" if key not in open_now and row.get("level") != "sibling":
                attempt = open_now[key] = Attempt(*key, row["group_id"], row["generation_index"])
                attempt.kept, attempt.resumes = row.get("tokens_kept") or 0, row.get("previous_attempt_id")
                found.append(attempt)
            case "attempt_sealed" | "attempt_abandoned":
                attempt = open_now.pop(key)
                attempt.outcome = row["event"].removeprefix("attempt_")
                attempt.reason, attempt.tokens = row.get("reason"), row.get("tokens")
            case "weight_sync" if row["replaced_version"] != row["new_version"]:
                for (run, _), attempt in open_now.items():
                    attempt.refits += run == row["run"]
    return found


def group_ids_in(events: Iterable[Row]) -> dict[str, list[str]]:
    """The runs that worked on each group."""
    found: dict[str, list[str]] = {}
    for row in events:
        if row["event"] == "group_reserved":
            found.setdefault(row["group_id"], []).append(row["run"])
    return found


def group_ends_in(events: Iterable[Row]) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Outcome and reason of each group, by run and group."""
    ends: dict[tuple[str, str], tuple[str, str | None]] = {}
    for row in events:
        match row["event"]:
            case "group_reserved":
                ends[row["run"], row["group_id"]] = ("interrupted", "run killed")
            case "group_discarded":
                ends[row["run"], row["group_id"]] = ("discarded", row["reason"])
            case "train_step":
                ends.update(dict.fromkeys(((row["run"], group_id) for group_id in row["group_ids"]), ("trained", None)))
    return ends


def values(events: Iterable[Row], event: str, field: str) -> list[Any]:
    """One field of all rows of one event."""
    return [row[field] for row in events if row["event"] == event]
