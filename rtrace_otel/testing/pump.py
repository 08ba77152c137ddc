"""The prompt groups of a simulated run, from their reservation until a step takes them or they are discarded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from rtrace_otel.testing.context import Context
from rtrace_otel.testing.rollouts import Rollouts
from rtrace_otel.testing.state import Attempt, Generation, Group, Outcome

SPARE_POOL: Final = 8
"""Spare prompts; after the last the first comes again, as its next occurrence."""


class Pump:
    """Keeps prompt groups generating.

    Args:
        context: The run.
        when_changed: Called when a group was published or discarded while rollouts ran.

    Attributes:
        rollouts: The attempts.
        cursor: Prompts taken from the dataset so far.
        spares: Spare prompts taken so far.
        oldest: Oldest version, counted from the job's start, whose groups are still trained.
        ready: Published groups that wait for training.
        in_flight: Groups that are still generating, in the order of their reservation.
    """

    def __init__(self, context: Context, when_changed: Callable[[], None]) -> None:
        """Begin without groups."""
        self._context = context
        self._when_changed = when_changed
        self.rollouts = Rollouts(context, self._finish, lambda group: self._discard_for_error(group, "server error"))
        self.cursor = 0
        self.spares = 0
        self.oldest = 0
        self.ready: list[Group] = []
        self.in_flight: dict[str, Group] = {}

    def fill(self) -> None:
        """Reserve prompts as long as there is room and the dataset has some."""
        settings = self._context.settings
        while (
            len(self.ready) + len(self.in_flight) < settings.open_groups
            and self.cursor < settings.prompts * settings.epochs
        ):
            epoch, prompt = divmod(self.cursor, settings.prompts)
            self.cursor += 1
            self._reserve(str(prompt), epoch)

    def take(self, count: int) -> list[Group]:
        """The groups that have waited longest, for training."""
        taken, self.ready = self.ready[:count], self.ready[count:]
        return taken

    def discard_stale(self) -> None:
        """Discard published groups that began before the oldest version."""
        for group in [group for group in self.ready if group.start_version < self.oldest]:
            self._discard(group, "stale")

    def drain(self) -> None:
        """Abandon and discard everything, because the run ends."""
        for group in (*self.in_flight.values(), *self.ready):
            self._discard(group, "run ended")

    def cut_off(self, outcome: Outcome) -> None:
        """The run is over, and its open attempts are what they are."""
        for group in self.in_flight.values():
            for generation in group.generations:
                if generation.attempt is not None and generation.attempt.outcome == "open":
                    self.rollouts.end(generation.attempt, outcome)

    def write_reserved(self, group: Group) -> None:
        """The row of a reservation, or of one that a restore brought back."""
        epoch = {"epoch": group.epoch} if self._context.settings.writes_epoch else {}
        origin = {} if group.origin_run is None else {"origin_run": group.origin_run}
        self._context.write(
            "group_reserved",
            group_id=group.group_id,
            prompt_id=group.prompt_id,
            generations=len(group.generations),
            weight_version=group.start_label,
            **epoch,
            **origin,
        )

    def publish(self, group: Group) -> None:
        """A group, whose counts are known, can be trained on."""
        self.ready.append(group)
        self._context.write(
            "group_published",
            group_id=group.group_id,
            tokens_by_version=dict(group.counts),
            call_versions=[list(call) for call in group.calls],
        )

    def _reserve(self, prompt_id: str, epoch: int) -> None:
        context = self._context
        group = Group(
            group_id=context.ids.new(),
            prompt_id=prompt_id,
            epoch=epoch,
            start_version=context.servers.version,
            start_label=context.servers.label,
            generations=[Generation(index) for index in range(context.settings.generations)],
            unsealed=context.settings.generations,
        )
        self.write_reserved(group)
        context.write("group_admitted", group_id=group.group_id, weight_version=group.start_label)
        self.in_flight[group.group_id] = group
        for generation in group.generations:
            self.rollouts.dispatch_soon(group, generation)

    def _finish(self, group: Group) -> None:
        """Every generation has its result."""
        self._context.write("group_sealed", group_id=group.group_id)
        trained = [attempt for attempt in group.results() if not attempt.masked]
        if not trained:
            self._discard_for_error(group, "no valid rollout")
            return
        if group.start_version < self.oldest:
            self._discard(group, "stale")
        else:
            del self.in_flight[group.group_id]
            self._count(group, trained)
            self.publish(group)
        self._when_changed()

    def _discard(self, group: Group, reason: str) -> None:
        for generation in group.generations:
            self.rollouts.abandon(generation, reason if reason == "run ended" else "group discarded")
        if self.in_flight.pop(group.group_id, None) is None:
            self.ready.remove(group)
        group.is_closed = True
        self._forget_cuts(group)
        self._context.write("group_discarded", group_id=group.group_id, reason=reason)
        self._context.observer.discarded(group, reason)

    def _discard_for_error(self, group: Group, reason: str) -> None:
        self._discard(group, reason)
        if self._context.settings.replacements:
            epoch, spare = divmod(self.spares, SPARE_POOL)
            self.spares += 1
            self._reserve(f"spare-{spare}", epoch)
        self._when_changed()

    def _count(self, group: Group, trained: list[Attempt]) -> None:
        """Trained tokens by version as the controller has it: the cuts that a restore has lost are not applied."""
        counts: Counter[int] = Counter()
        calls = [call for attempt in trained for call in attempt.calls]
        for call in calls:
            label, done = call.begin_label, 0
            for position, installed in self._context.servers.cuts.get(call.call_id, ()):
                end = min(position, call.tokens)
                counts[label] += end - done
                label, done = installed, end
            counts[label] += call.tokens - done
        group.calls = [[call.call_id, call.begin_label, call.tokens] for call in calls]
        group.counts = {label: counts[label] for label in sorted(counts) if counts[label]}
        self._forget_cuts(group)

    def _forget_cuts(self, group: Group) -> None:
        for attempt in group.results():
            self._context.servers.forget(attempt.calls)
