"""Keeps prompt groups generating: reserves, admits, dispatches, retries, seals and publishes them."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.age.batch_age import batch_age_group_metrics
from rtrace_otel.analysis.age.refit_cuts import RefitCuts
from rtrace_otel.demo.client import FailedCallError, InferenceClient, RefusedError
from rtrace_otel.demo.ledger import Generation, Group
from rtrace_otel.demo.policy import reward_of, task_of
from rtrace_otel.demo.settings import PROMPTS, DemoSettings
from rtrace_otel.record.trace import RolloutTrace

SHORT_TURN: Final = (12, 45)
LONG_TURN: Final = (70, 130)
LONG_SHARE: Final = 0.12


@dataclass(slots=True)
class Versions:
    """The weight versions that the rollouts see."""

    rollout: int


class RolloutPump:
    """Owns the groups between reservation and training.

    Args:
        trace: Where every event goes.
        client: The inference server.
        cuts: Filled by the trainer at each refit.
        versions: The weight version in force.
        settings: Size and speed.
        next_prompt: Prompts taken from the dataset so far.

    Attributes:
        ready: Published groups that wait for training.
        in_flight: Groups still generating, by id.
        next_prompt: As above.
        admission: Set while the server takes new rollouts.
    """

    def __init__(
        self,
        trace: RolloutTrace,
        client: InferenceClient,
        cuts: RefitCuts,
        versions: Versions,
        settings: DemoSettings,
        next_prompt: int = 0,
    ) -> None:
        """Begin without groups."""
        self._trace = trace
        self._client = client
        self._cuts = cuts
        self._versions = versions
        self._settings = settings
        self._rng = random.Random(f"{settings.seed}/{next_prompt}")  # noqa: S311 - lengths, not secrets
        self._oldest = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()
        self.ready: list[Group] = []
        self.in_flight: dict[str, Group] = {}
        self.next_prompt = next_prompt
        self.admission = asyncio.Event()
        self.admission.set()

    async def keep_filled(self) -> None:
        """Reserve prompts for ever, as long as there is room."""
        while True:
            async with self._changed:
                await self._changed.wait_for(self._has_room)
            group = self._reserve()
            self._trace.group_admitted(group.group_id, weight_version=group.start_version)
            self.launch(group)

    async def take(self, count: int) -> list[Group]:
        """The next groups to train on, as soon as there are enough."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.ready) >= count)
            taken, self.ready = self.ready[:count], self.ready[count:]
            self._changed.notify_all()
            return taken

    async def discard_stale(self, oldest: int) -> None:
        """From now on, drop groups that began before the oldest version still trained."""
        self._oldest = oldest
        async with self._changed:
            for group in [g for g in self.ready if g.start_version < oldest]:
                self.ready.remove(group)
                self._trace.group_discarded(group.group_id, "stale")
            self._changed.notify_all()

    def launch(self, group: Group) -> None:
        """Generate what the group still lacks, in the background."""
        self.in_flight[group.group_id] = group
        task = asyncio.create_task(self._finish(group))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Cancel everything; what was open is abandoned, and no group is left behind."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for group in self.in_flight.values():
            for generation in group.generations:
                if generation.attempt_id is not None and not generation.sealed:
                    self._trace.attempt_abandoned(generation.attempt_id, "run ended")
        for group in (*self.in_flight.values(), *self.ready):
            self._trace.group_discarded(group.group_id, "run ended")

    def _has_room(self) -> bool:
        return len(self.ready) + len(self.in_flight) < self._settings.groups_in_flight

    def _reserve(self) -> Group:
        prompt_id, epoch = self.next_prompt % PROMPTS, self.next_prompt // PROMPTS
        self.next_prompt += 1
        count = self._settings.generations
        generations = [Generation(index, self._turn_lengths()) for index in range(count)]
        group = Group(uuid.uuid4().hex[:12], prompt_id, epoch, self._versions.rollout, generations)
        self._trace.group_reserved(group.group_id, prompt_id, count, group.start_version, epoch)
        return group

    def _turn_lengths(self) -> list[int]:
        return [
            self._rng.randint(*(LONG_TURN if self._rng.random() < LONG_SHARE else SHORT_TURN))
            for _ in range(self._rng.choice((1, 1, 2, 3)))
        ]

    async def _finish(self, group: Group) -> None:
        await asyncio.gather(
            *(self._seal(group, generation) for generation in group.generations if not generation.sealed)
        )
        self._trace.group_sealed(group.group_id)
        trained = [generation for generation in group.generations if generation.reward is not None]
        async with self._changed:
            del self.in_flight[group.group_id]
            if not trained:
                self._trace.group_discarded(group.group_id, "no valid rollout")
            elif group.start_version < self._oldest:
                self._trace.group_discarded(group.group_id, "stale")
            else:
                self._publish(group, trained)
            self._changed.notify_all()

    def _publish(self, group: Group, trained: Sequence[Generation]) -> None:
        calls = [
            (call.call_id, call.begin_version, len(call.tokens)) for generation in trained for call in generation.calls
        ]
        counts = self._cuts.tokens_by_version(calls)
        group.metrics = batch_age_group_metrics(counts)
        self._trace.group_published(group.group_id, counts, calls)
        self.ready.append(group)

    async def _seal(self, group: Group, generation: Generation) -> None:
        while not generation.sealed:
            if generation.attempt_id is None:
                generation.attempt_id = uuid.uuid4().hex[:12]
                await self._dispatch(group, generation)
            else:
                await self._take_turns(group, generation)

    async def _dispatch(self, group: Group, generation: Generation) -> None:
        """The first turn of an attempt; a refused dispatch is repeated under the same attempt id."""
        while True:
            assert generation.attempt_id is not None
            self._trace.attempt_dispatched(
                group.group_id,
                generation.attempt_id,
                group.prompt_id,
                generation.index,
                generation.attempt_index,
                self._versions.rollout,
                "server-0",
            )
            try:
                return await self._take_turns(group, generation)
            except RefusedError:
                self._trace.attempt_refused(generation.attempt_id, "checkpoint in progress")
                await self.admission.wait()

    async def _take_turns(self, group: Group, generation: Generation) -> None:
        assert generation.attempt_id is not None
        try:
            for turn in range(len(generation.calls), len(generation.turn_lengths)):
                call = await self._client.generate(
                    f"{generation.attempt_id}:{turn}",
                    task_of(group.prompt_id),
                    generation.turn_lengths[turn],
                    self._trace.inject({}, generation.attempt_id, group.group_id, origin_run=group.origin_run),
                    first_turn=turn == 0,
                )
                generation.calls.append(call)
        except FailedCallError as error:
            tokens = len(generation.tokens) + error.tokens
            self._trace.attempt_abandoned(generation.attempt_id, "server error", tokens)
            generation.attempt_id = None
            generation.attempt_index += 1
            generation.calls = []
            return
        masked = self._rng.random() < self._settings.masked_rate
        generation.reward = None if masked else reward_of(group.prompt_id, generation.tokens)
        generation.sealed = True
        self._trace.attempt_sealed(generation.attempt_id, len(generation.tokens), generation.reward, masked)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a prompt group failed", "exception": task.exception()}
            )
