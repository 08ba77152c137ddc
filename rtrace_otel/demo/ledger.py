"""What the controller owns and checkpoints: prompt groups, their generations, and the model calls made for them."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtrace_otel.demo.client import Generated


@dataclass(slots=True)
class Generation:
    """One sibling of a group.

    Attributes:
        index: Its place in the group.
        turn_lengths: Tokens to generate in each turn.
        attempt_id: The attempt in progress or sealed; ``None`` before the first dispatch.
        attempt_index: Attempts before this one.
        calls: Turns that are complete.
        sealed: Whether it has its result.
        reward: Its reward; ``None`` if it is masked.
    """

    index: int
    turn_lengths: list[int]
    attempt_id: str | None = None
    attempt_index: int = 0
    calls: list[Generated] = field(default_factory=list)
    sealed: bool = False
    reward: float | None = None

    @property
    def tokens(self) -> list[int]:
        """Tokens of all complete turns."""
        return [token for call in self.calls for token in call.tokens]


@dataclass(slots=True)
class Group:
    """All generations of one prompt.

    Attributes:
        group_id: Kept through a restore.
        prompt_id: Index in the dataset.
        epoch: Pass over the dataset.
        start_version: Weight version when it was admitted.
        generations: The siblings.
        origin_run: The run that reserved it, if that is not this one.
        metrics: Batch-age sums, once published.
    """

    group_id: str
    prompt_id: int
    epoch: int
    start_version: int
    generations: list[Generation]
    origin_run: str | None = None
    metrics: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Snapshot:
    """What a checkpoint holds.

    Attributes:
        checkpoint_id: Its name.
        run: The run that published it.
        step: Last step trained.
        version: Weight version after that step.
        logits: The policy.
        next_prompt: Prompts taken from the dataset so far.
        ready: Published groups that wait for training.
        in_flight: Groups that are still generating.
    """

    checkpoint_id: str
    run: str
    step: int
    version: int
    logits: list[list[float]]
    next_prompt: int
    ready: list[Group]
    in_flight: list[Group]

    @property
    def group_ids(self) -> list[str]:
        """Every group that it holds."""
        return [group.group_id for group in (*self.ready, *self.in_flight)]


def write_unpublished(snapshot: Snapshot, folder: Path) -> Path:
    """Write a checkpoint under a name that no restore looks at."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{snapshot.checkpoint_id}.tmp"
    with path.open("w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(snapshot), file)
        file.flush()
        os.fsync(file.fileno())
    return path


def publish(path: Path) -> None:
    """Give a checkpoint its name, at once: a kill leaves either all of it or nothing."""
    path.replace(path.with_suffix(".json"))


def load_latest(folder: Path) -> Snapshot | None:
    """The newest checkpoint of a folder, or ``None`` if there is none."""
    paths = sorted(folder.glob("*.json"))
    return _snapshot(json.loads(paths[-1].read_text(encoding="utf-8"))) if paths else None


def _snapshot(data: dict[str, Any]) -> Snapshot:
    groups = {kind: [_group(group) for group in data[kind]] for kind in ("ready", "in_flight")}
    return Snapshot(**{**data, **groups})


def _group(data: dict[str, Any]) -> Group:
    generations = [
        Generation(**{**generation, "calls": [Generated(**call) for call in generation["calls"]]})
        for generation in data["generations"]
    ]
    return Group(**{**data, "generations": generations})
