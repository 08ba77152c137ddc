"""The inference engine: continuous batching, one token per running call and tick, calls kept across a refit.

It also keeps what no real server keeps, and what the demo is checked with: the true weight version of every token.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rtrace_otel.demo.policy import Policy


@dataclass(slots=True)
class Call:
    """A model call in the engine.

    Attributes:
        call_id: Chosen by the client.
        task: Kind of the prompt.
        length: Tokens to generate.
        begin_version: Weight version in force when the call arrived; what a real server stamps.
        fails_at: Token count at which the server fails the call, if it does.
        done: Resolved with whether the call succeeded.
        tokens: Generated so far.
        true_versions: Version that really made each token, as runs of ``[version, tokens]``.
    """

    call_id: str
    task: int
    length: int
    begin_version: int
    fails_at: int | None
    done: asyncio.Future[bool]
    tokens: list[int] = field(default_factory=list)
    true_versions: list[list[int]] = field(default_factory=list)


class Engine:
    """Runs calls until they are done; pauses for a refit without losing them.

    Args:
        seed: Seeds sampling and failures.
        slots: Calls that run at once; more wait.
        token_s: Time between ticks.
        failure_rate: Share of calls that fail half-way.
    """

    def __init__(self, seed: int, slots: int, token_s: float, failure_rate: float) -> None:
        """Begin empty, with the first weights and version 0."""
        self._rng = np.random.default_rng(seed)
        self._slots = slots
        self._token_s = token_s
        self._failure_rate = failure_rate
        self._policy = Policy()
        self._running: list[Call] = []
        self._waiting: deque[Call] = deque()
        self._may_run = asyncio.Event()
        self._may_run.set()
        self.version = 0
        self.truth: dict[str, dict[str, Any]] = {}

    async def run(self) -> None:
        """Tick for ever."""
        while True:
            await self._may_run.wait()
            self._tick()
            await asyncio.sleep(self._token_s)

    async def generate(self, call_id: str, task: int, length: int) -> tuple[bool, Call]:
        """Run a call to its end; True if it succeeded. Cancelling this aborts the call."""
        fails = self._rng.random() < self._failure_rate
        fails_at = int(self._rng.integers(1, length)) if fails and length > 1 else None
        call = Call(call_id, task, length, self.version, fails_at, asyncio.get_running_loop().create_future())
        self.truth[call_id] = {"begin_version": call.begin_version, "versions": call.true_versions}
        self._waiting.append(call)
        try:
            return await call.done, call
        finally:
            self._remove(call)

    def pause(self) -> None:
        """Freeze the running calls between two tokens."""
        self._may_run.clear()

    def install(self, version: int, logits: Sequence[Sequence[float]]) -> None:
        """Put new weights in place."""
        self._policy = Policy(logits)
        self.version = version

    def resume(self) -> list[list[Any]]:
        """Go on; gives ``[call_id, tokens]`` of every call that the refit held up, also those that began during it."""
        calls = [[call.call_id, len(call.tokens)] for call in (*self._running, *self._waiting)]
        self._may_run.set()
        return calls

    def abort_all(self) -> None:
        """Drop every call, as when their client is gone."""
        for call in (*self._running, *self._waiting):
            if not call.done.done():
                call.done.cancel()

    def _tick(self) -> None:
        while self._waiting and len(self._running) < self._slots:
            self._running.append(self._waiting.popleft())
        calls = [call for call in self._running if not call.done.done()]
        for call, token in zip(calls, self._policy.sample([call.task for call in calls], self._rng), strict=True):
            call.tokens.append(token)
            if call.true_versions and call.true_versions[-1][0] == self.version:
                call.true_versions[-1][1] += 1
            else:
                call.true_versions.append([self.version, 1])
            if len(call.tokens) == call.fails_at:
                call.done.set_result(False)
            elif len(call.tokens) == call.length:
                call.done.set_result(True)

    def _remove(self, call: Call) -> None:
        if call in self._running:
            self._running.remove(call)
        elif call in self._waiting:
            self._waiting.remove(call)
