"""Which run a new one takes over from, and which checkpoint it goes on from."""

from __future__ import annotations

from rtrace_otel.analysis.checked import duration, integer, name, names
from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, Restored
from rtrace_otel.events import Row


def restored_by(row: Row) -> Restored:
    """What a ``checkpoint_restored`` row says."""
    groups = row.get("groups")
    return Restored(
        name(row.get("checkpoint_id")),
        integer(row.get("step")),
        name(row.get("from_run")),
        duration(row.get("seconds")),
        frozenset(names(groups)) if isinstance(groups, (list, tuple)) else None,
    )


class Heirs:
    """The runs that did some work, in order, and the checkpoints that they published."""

    def __init__(self) -> None:
        """Begin with none."""
        self._order: list[Branch] = []
        self._checkpoints: dict[str, list[Checkpoint]] = {}

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The runs so far."""
        return tuple(self._order)

    def of_job(self, job: int) -> list[Branch]:
        """The runs of a job so far."""
        return [branch for branch in self._order if branch.job == job]

    def add(self, branch: Branch) -> None:
        """A run did its first work."""
        self._order.append(branch)

    def published(self, checkpoint: Checkpoint) -> None:
        """A run published a checkpoint."""
        self._checkpoints.setdefault(checkpoint.checkpoint_id, []).append(checkpoint)

    def stopped(self, said: Restored | None) -> tuple[Branch | None, Checkpoint | None]:
        """The run that a new one takes over from, and the checkpoint that it goes on from.

        Args:
            said: What the new run says of its checkpoint, if it restores one.

        Returns:
            The newest run of the checkpoint's job, else the newest run; ``None`` if there was none.
        """
        if not self._order:
            return None, None
        checkpoint = self._find(said) if said is not None else None
        if checkpoint is None:
            return self._order[-1], None
        return self.of_job(checkpoint.branch.job)[-1], checkpoint

    def taken_before(self, checkpoint: Checkpoint) -> float | None:
        """When the same run's checkpoint before this one was taken."""
        times = (
            other.taken_at
            for found in self._checkpoints.values()
            for other in found
            if other.branch is checkpoint.branch and other.windows_before == checkpoint.windows_before - 1
        )
        return next(times, None)

    def _find(self, said: Restored) -> Checkpoint | None:
        """The checkpoint that a run names: by its id, else the newest of its step."""
        named = self._checkpoints.get(said.checkpoint_id or "", [])
        if not named and said.step is not None:
            every = [checkpoint for found in self._checkpoints.values() for checkpoint in found]
            named = [checkpoint for checkpoint in every if checkpoint.step == said.step]
        from_run = [checkpoint for checkpoint in named if checkpoint.branch.run == said.from_run]
        return max(from_run or named, key=lambda checkpoint: checkpoint.published_at or 0.0, default=None)
