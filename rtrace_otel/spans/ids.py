"""Trace and span ids, derived from run, group and attempt: live export, replay and other processes agree on them.

Each is a blake2b hash, never zero. The random flag of W3C trace context is not claimed for them.
"""

from __future__ import annotations

from hashlib import blake2b

_SEPARATOR = "\x1f"


def group_trace_id(origin_run: str, group_id: str) -> int:
    """Trace of a prompt group, the same in every run that works on it (16 bytes).

    Args:
        origin_run: The run that first reserved the group.
        group_id: The group.
    """
    return _number(_digest(16, f"group\x1f{origin_run}\x1f{group_id}"))


def group_span_id(run: str, group_id: str, again: int = 0) -> int:
    """The span of a group in one run (8 bytes); ``again`` counts earlier spans of the same group and run."""
    return _hash(8, "group", run, group_id, *_times(again))


def attempt_span_id(run: str, group_id: str, attempt_id: str, again: int = 0) -> int:
    """The span of a rollout attempt (8 bytes); known as soon as the attempt has an id."""
    text = f"attempt\x1f{run}\x1f{group_id}\x1f{attempt_id}"
    return _number(_digest(8, f"{text}\x1f{again}" if again else text))


def root_ids(kind: str, run: str, key: str, again: int = 0) -> tuple[int, int]:
    """Trace and span id of a span that is a trace of its own: a step, a refit, a checkpoint."""
    return _hash(16, kind, run, key, *_times(again)), _hash(8, kind, run, key, *_times(again))


def child_span_id(parent_id: int, key: str) -> int:
    """The span of a part of a larger span (8 bytes)."""
    return _hash(8, "child", f"{parent_id:016x}", key)


def attempt_traceparent(origin_run: str, run: str, group_id: str, attempt_id: str) -> str:
    """The W3C ``traceparent`` header that makes a span the child of an attempt; sampled."""
    trace_id = _digest(16, f"group\x1f{origin_run}\x1f{group_id}").hexdigest()
    span_id = _digest(8, f"attempt\x1f{run}\x1f{group_id}\x1f{attempt_id}").hexdigest()
    return f"00-{trace_id}-{span_id}-01"


def _times(again: int) -> tuple[str, ...]:
    return (str(again),) if again else ()


def _hash(size: int, *parts: str) -> int:
    return _number(_digest(size, _SEPARATOR.join(parts)))


def _number(digest: blake2b) -> int:
    return int.from_bytes(digest.digest(), "big") or 1


def _digest(size: int, text: str) -> blake2b:
    return blake2b(text.encode("utf-8", "replace"), digest_size=size)
