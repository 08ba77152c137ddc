"""Which run a new one takes over from, and which checkpoint it goes on from."""

from __future__ import annotations

from dataclasses import dataclass

from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, chain


@dataclass(frozen=True, slots=True)
class Restored:
    """What a run says of the checkpoint that it went on from.

    Attributes:
        checkpoint_id: Its name.
        step: Its step.
        from_run: The run that published it.
        seconds: How long the restore took.
    """

    checkpoint_id: str | None
    step: int | None
    from_run: str | None
    seconds: float | None


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
            The newest run that descends from the checkpoint, else the newest run; ``None`` if there was none.
        """
        if not self._order:
            return None, None
        checkpoint = self._find(said) if said is not None else None
        if checkpoint is None:
            return self._order[-1], None
        heirs = [branch for branch in self._order if checkpoint.branch in chain(branch)]
        return (heirs or self._order)[-1], checkpoint

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
