"""Rows that another recorder wrote: spelling variants of event and field names, mapped to the vocabulary.

NeMo RL documents that each row has a time ``t``, a run id and an event, and which events there are; it does not
document how they are spelled. Rows without a sequence number are taken for such rows; ours always have one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from rtrace_otel.events import EVENTS_BY_NAME, Row

_EVENT_KEYS: Final = ("event", "name", "type", "kind", "event_type")
_BEGIN: Final = b'{"event":"'
_TIME_KEYS: Final = ("t", "time", "ts", "timestamp")
_RUN_KEYS: Final = ("run", "run_id")

_EVENT_VARIANTS: Final[dict[str, tuple[str, ...]]] = {
    "group_reserved": ("group_reserve", "group_reservation", "reserved", "reserve", "prompt_group_reserved"),
    "group_admitted": ("group_admit", "group_admission", "admitted", "admit", "prompt_group_admitted"),
    "group_sealed": ("group_seal", "prompt_group_sealed"),
    "group_published": ("group_publish", "published", "publish", "prompt_group_published"),
    "group_discarded": ("group_discard", "discarded", "discard", "prompt_group_discarded"),
    "attempt_dispatched": ("attempt_dispatch", "dispatched", "dispatch", "rollout_dispatched", "rollout_dispatch"),
    "attempt_refused": ("attempt_refusal", "attempt_refuse", "refused", "refusal", "rollout_refused"),
    "attempt_resumed": ("attempt_resume", "resumed", "resume", "rollout_resumed", "attempt_restored"),
    "attempt_sealed": ("attempt_seal", "sealed", "seal", "rollout_sealed", "sibling_sealed"),
    "attempt_abandoned": ("attempt_abandon", "attempt_abandonment", "abandoned", "abandon", "rollout_abandoned"),
    "train_step": ("training_step", "step_trained", "trained", "train_step_finished", "train_step_ended", "step"),
    "train_step_started": ("training_step_started", "train_step_start", "training_step_start"),
    "weight_sync": (
        "weights_synced",
        "weight_synced",
        "weights_sync",
        "weight_update",
        "refit",
        "weight_sync_finished",
    ),
    "weight_sync_started": ("weight_sync_start", "weights_sync_started", "refit_started", "refit_start"),
    "checkpoint_published": ("checkpoint_publish", "checkpoint_saved", "checkpoint_save", "snapshot_published"),
    "checkpoint_restored": ("checkpoint_restore", "restored", "restore", "snapshot_restored"),
    "run_started": ("run_start", "started"),
    "run_ended": ("run_end", "run_finished", "ended"),
}
_FIELD_VARIANTS: Final[dict[str, tuple[str, ...]]] = {
    "group_id": ("group", "prompt_group_id", "group_uuid"),
    "attempt_id": ("attempt", "attempt_uuid", "rollout_attempt_id", "rollout_id"),
    "prompt_id": ("prompt", "prompt_idx", "prompt_index", "idx", "sample_id", "dataset_index"),
    "generation_index": ("generation", "generation_idx", "gen_index", "gen_idx", "sibling_index", "sibling"),
    "attempt_index": ("attempt_idx", "attempt_number"),
    "weight_version": ("start_weight_version", "start_weight", "version", "policy_version", "begin_weight_version"),
    "generations": ("expected_generations", "num_generations", "group_size"),
    "reason": ("cause", "why"),
    "level": ("granularity", "restore_level", "recovery_level"),
    "previous_attempt_id": ("previous_attempt", "prev_attempt_id", "parent_attempt_id"),
    "tokens": ("num_tokens", "output_tokens", "trained_tokens", "token_count"),
    "masked": ("mask_sample", "mask"),
    "tokens_by_version": ("tokens_by_weight_version", "token_versions", "version_tokens", "trained_tokens_by_version"),
    "call_versions": ("calls_by_version", "trained_calls"),
    "group_ids": ("groups", "trained_groups", "group_id_list"),
    "groups": ("group_ids",),
    "trained_version": ("version_during_step", "trainer_version", "weight_version", "policy_version", "version"),
    "step": ("train_step", "training_step", "iteration", "global_step"),
    "replaced_version": ("old_version", "previous_version", "from_version", "old_weight_version"),
    "new_version": ("installed_version", "to_version", "version", "weight_version", "new_weight_version"),
    "calls": ("running_calls", "call_tokens", "paused_calls"),
    "seconds": ("duration", "duration_s", "elapsed", "elapsed_s", "took_s"),
    "checkpoint_id": ("checkpoint", "checkpoint_path", "snapshot", "snapshot_id", "path"),
}
_CANONICAL: Final = {variant: name for name, variants in _EVENT_VARIANTS.items() for variant in variants}


def is_event(value: Any) -> bool:
    """Whether a JSON value is an event row: ours, or one with at least a time, a run and an event name."""
    if not isinstance(value, dict):
        return False
    if type(value.get("seq")) is int:
        return isinstance(value.get("event"), str) and isinstance(value.get("run"), str) and "t" in value
    return (
        isinstance(_first(value, _EVENT_KEYS), str)
        and isinstance(_first(value, _RUN_KEYS), (str, int))
        and isinstance(_first(value, _TIME_KEYS), (int, float))
    )


def is_of_two(line: bytes, event: str | None) -> bool:
    """Whether an object is the begin of one row and the rest of another, as lost bytes can make them: two events.

    Args:
        line: The object as it stands in the file.
        event: Its ``event``; of a key that comes twice, JSON decoders take the last value.
    """
    if event is None or not line.startswith(_BEGIN):
        return False
    name, escape, _ = line[len(_BEGIN) : line.find(b'"', len(_BEGIN))].partition(b"\\")
    last = event.encode("utf-8", "surrogatepass")
    return not last.startswith(name) if escape else name != last


def may_stand_for(beginning: str, events: Collection[str]) -> bool:
    """Whether a name that begins so can be that of one of these events, in whatever spelling.

    Args:
        beginning: Small letters and underscores.
        events: Events of the vocabulary.
    """
    return any(name.startswith(beginning) for event in events for name in (event, *_EVENT_VARIANTS.get(event, ())))


def to_vocabulary(row: Row) -> Row:
    """A row of another recorder in our vocabulary.

    Args:
        row: A row for which :func:`is_event` holds and that has no ``seq``.

    Returns:
        The row with ``event``, ``t`` and ``run`` under these names and known variants of event and field names
        replaced; everything else is kept as it is.
    """
    event = _event_name(_take(row := dict(row), "event", _EVENT_KEYS))
    head = {"event": event, "t": _take(row, "t", _TIME_KEYS), "run": str(_take(row, "run", _RUN_KEYS))}
    known = EVENTS_BY_NAME.get(event)
    for field in known.fields if known else ():
        if field.name not in row:
            variant = next((name for name in _FIELD_VARIANTS.get(field.name, ()) if name in row), None)
            if variant is not None:
                row[field.name] = row.pop(variant)
    return head | row


def _event_name(name: str) -> str:
    plain = name.strip().lower().replace("-", "_").replace(".", "_").replace(" ", "_")
    if plain in EVENTS_BY_NAME:
        return plain
    return _CANONICAL.get(plain, name)


def _first(row: Row, keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if key in row), None)


def _take(row: Row, key: str, keys: tuple[str, ...]) -> Any:
    found = next(name for name in keys if name in row)
    value = row.pop(found)
    row.pop(key, None)
    return value
