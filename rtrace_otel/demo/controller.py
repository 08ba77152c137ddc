"""The demo's controller: ``python -m rtrace_otel.demo.controller``. The process that is killed and restored."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import aiohttp

from rtrace_otel.analysis.age.batch_age import pop_batch_age
from rtrace_otel.analysis.age.refit_cuts import RefitCuts
from rtrace_otel.demo.client import InferenceClient
from rtrace_otel.demo.ledger import Generation, Group, Snapshot, load_latest, publish, write_unpublished
from rtrace_otel.demo.metrics import JobMetrics
from rtrace_otel.demo.policy import Policy, task_of
from rtrace_otel.demo.rollouts import RolloutPump, Versions
from rtrace_otel.demo.settings import STALE_AFTER, DemoSettings
from rtrace_otel.record.arguments import new_run_id
from rtrace_otel.record.trace import RolloutTrace

CHECKPOINTS: Final = "checkpoints"
SERVICE_NAME: Final = "rtrace-demo"


class Controller:
    """Trains the policy on groups as they come, and pushes new weights while rollouts run.

    Args:
        folder: Log folder of the job, with the trace and the checkpoints.
        trace: Where every event goes.
        client: The inference server.
        settings: Size and speed.
    """

    def __init__(self, folder: Path, trace: RolloutTrace, client: InferenceClient, settings: DemoSettings) -> None:
        """Begin, from the newest checkpoint if there is one."""
        self._folder = folder / CHECKPOINTS
        self._trace = trace
        self._client = client
        self._settings = settings
        self._cuts = RefitCuts()
        self._restored = load_latest(self._folder)
        self._policy = Policy(self._restored.logits if self._restored else None)
        self._step = self._restored.step if self._restored else 0
        self._version = self._restored.version if self._restored else 0
        self._versions = Versions(self._version)
        self._saving: asyncio.Task[None] | None = None
        self._published = self._restored is not None
        next_prompt = self._restored.next_prompt if self._restored else 0
        self._pump = RolloutPump(trace, client, self._cuts, self._versions, settings, next_prompt)

    async def run(self) -> None:
        """Train to the last step."""
        started = time.monotonic()
        await self._client.load(self._version, self._policy.logits.tolist())
        self._trace.weight_sync(self._version, self._version, [], time.monotonic() - started)
        if self._restored:
            self._bring_back(self._restored, time.monotonic() - started)
        filler = asyncio.create_task(self._pump.keep_filled())
        while self._step < self._settings.steps:
            await self._train_step()
            await self._sync_weights()
            await self._pump.discard_stale(self._version - STALE_AFTER)
            if self._step % self._settings.checkpoint_every == 0:
                await self._checkpoint()
        if self._saving is not None:
            await self._saving
        filler.cancel()
        await self._pump.stop()

    async def _train_step(self) -> None:
        groups = await self._pump.take(self._settings.groups_per_step)
        started = time.monotonic()
        self._step += 1
        self._trace.train_step_started(self._step)
        metrics: dict[str, list[Any]] = {}
        for group in groups:
            for name, value in group.metrics.items():
                metrics.setdefault(name, []).append(value)
            self._learn(group)
        tokens = sum(metrics["batch_age/trained_tokens"])
        age = pop_batch_age(metrics, self._version)
        await self._optimize()
        group_ids = [group.group_id for group in groups]
        seconds = time.monotonic() - started
        self._trace.train_step(
            self._step, self._version, group_ids, age, tokens, seconds, extra={"mean_reward": _mean_reward(groups)}
        )
        self._version += 1

    async def _optimize(self) -> None:
        """Take the time of an optimizer step; in the step in which this process is to die, it does.

        SIGKILL from another process would come at whatever moment a busy machine lets that one run.
        """
        settings = self._settings
        if settings.dies_in_step is None or self._step < settings.dies_in_step or not self._published:
            await asyncio.sleep(settings.train_s)
            return
        await asyncio.to_thread(self._trace.flush)
        await asyncio.sleep(settings.dies_after * settings.train_s)
        os.kill(os.getpid(), signal.SIGKILL)

    def _learn(self, group: Group) -> None:
        rewards = {g.index: g.reward for g in group.generations if g.reward is not None}
        rollouts = [g.tokens for g in group.generations if g.index in rewards]
        self._policy.reinforce(task_of(group.prompt_id), rollouts, list(rewards.values()))

    async def _sync_weights(self) -> None:
        started = time.monotonic()
        self._trace.weight_sync_started()
        calls = await self._client.refit(self._version, self._policy.logits.tolist())
        replaced = self._versions.rollout
        self._cuts.record(replaced, self._version, calls)
        self._cuts.forget_before(self._version - STALE_AFTER)
        self._versions.rollout = self._version
        self._trace.weight_sync(replaced, self._version, calls, time.monotonic() - started)

    async def _checkpoint(self) -> None:
        """Close admission and take the snapshot; the rest happens while the next step trains."""
        started = time.monotonic()
        self._trace.checkpoint_started()
        self._pump.admission.clear()
        await self._client.set_admission(is_open=False)
        snapshot = Snapshot(
            checkpoint_id=f"step-{self._step:04d}",
            run=self._trace.run,
            step=self._step,
            version=self._version,
            logits=self._policy.logits.tolist(),
            next_prompt=self._pump.next_prompt,
            ready=self._pump.ready,
            in_flight=list(self._pump.in_flight.values()),
        )
        unpublished = write_unpublished(snapshot, self._folder)
        self._saving = asyncio.create_task(self._publish(snapshot, snapshot.group_ids, unpublished, started))

    async def _publish(self, snapshot: Snapshot, group_ids: list[str], unpublished: Path, started: float) -> None:
        await asyncio.sleep(self._settings.checkpoint_s)
        publish(unpublished)
        self._published = True
        seconds = time.monotonic() - started
        self._trace.checkpoint_published(snapshot.checkpoint_id, snapshot.step, "trainer", group_ids, seconds)
        await self._client.set_admission(is_open=True)
        self._pump.admission.set()

    def _bring_back(self, snapshot: Snapshot, seconds: float) -> None:
        self._trace.checkpoint_restored(
            snapshot.checkpoint_id, snapshot.step, snapshot.group_ids, snapshot.run, seconds
        )
        for group in (*snapshot.ready, *snapshot.in_flight):
            origin_run = group.origin_run = group.origin_run or snapshot.run
            self._trace.group_reserved(
                group.group_id, group.prompt_id, len(group.generations), group.start_version, group.epoch, origin_run
            )
        self._pump.ready = snapshot.ready
        for group in snapshot.in_flight:
            for generation in group.generations:
                self._resume(group, generation)
            self._pump.launch(group)

    def _resume(self, group: Group, generation: Generation) -> None:
        """Keep a sealed sibling, go on after the last complete turn, or start the attempt anew."""
        kept = len(generation.tokens)
        where = (group.group_id, group.prompt_id, generation.index)
        if generation.sealed:
            assert generation.attempt_id is not None
            self._trace.attempt_resumed(generation.attempt_id, "sibling", None, kept, *where)
        elif generation.attempt_id is not None:
            before = generation.attempt_id
            generation.attempt_index += 1
            generation.attempt_id = None
            if generation.calls:
                generation.attempt_id = f"{before.split('-')[0]}-{generation.attempt_index}"
                self._trace.attempt_resumed(generation.attempt_id, "turn", before, kept, *where)


def _mean_reward(groups: Sequence[Group]) -> float:
    rewards = [g.reward for group in groups for g in group.generations if g.reward is not None]
    return round(sum(rewards) / len(rewards), 4)


async def control(folder: Path, url: str, settings: DemoSettings) -> None:
    """Run the controller in a log folder against a server."""
    run = new_run_id()
    metrics = JobMetrics(SERVICE_NAME, run, os.environ)
    with RolloutTrace(
        folder, run=run, service=SERVICE_NAME, framework="rtrace demo", meter_provider=metrics.provider
    ) as trace:
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            await Controller(folder, trace, InferenceClient(url, session), settings).run()
    metrics.shut_down()


def main() -> None:
    """Parse the command line and control."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("url")
    parser.add_argument("settings", help="the settings that differ from their defaults, as a JSON object")
    wanted = parser.parse_args()
    given: dict[str, Any] = json.loads(wanted.settings)
    unknown = given.keys() - {field.name for field in fields(DemoSettings)}
    if unknown:
        parser.error(f"unknown settings: {', '.join(sorted(unknown))}")
    with suppress(KeyboardInterrupt):
        asyncio.run(control(wanted.folder, wanted.url, DemoSettings(**given)))
        return
    sys.exit(130)


if __name__ == "__main__":
    main()
