"""The attempts of a simulated run: dispatched, refused, running turn by turn, sealed or failed and dispatched again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from rtrace_otel.testing.context import Context
from rtrace_otel.testing.state import Attempt, Call, Generation, Group, Outcome

INSTANCES: Final = 4
"""Inference servers that the rows name."""

DISPATCH_S: Final = 0.4
"""Mean time from the wish to dispatch to the dispatch."""


class Rollouts:
    """Gets each generation its result.

    Args:
        context: The run.
        when_sealed: Called when every generation of a group has its result.
        when_given_up: Called when a generation of a group has failed too often.

    Attributes:
        admits: Whether dispatches are never refused.
    """

    def __init__(
        self, context: Context, when_sealed: Callable[[Group], None], when_given_up: Callable[[Group], None]
    ) -> None:
        """Begin without attempts."""
        self._context = context
        self._when_sealed = when_sealed
        self._when_given_up = when_given_up
        self._refused: list[tuple[Group, Generation]] = []
        self.admits = True

    def admit(self) -> None:
        """Take new work again, first that which was refused."""
        self.admits = True
        refused, self._refused = self._refused, []
        for group, generation in refused:
            self.dispatch_soon(group, generation)

    def dispatch_soon(self, group: Group, generation: Generation) -> None:
        """Dispatch a generation that has no attempt, or whose attempt was refused."""
        context = self._context
        context.agenda.after(context.rng.expovariate(1 / DISPATCH_S), partial(self._dispatch, group, generation))

    def open(self, generation: Generation, attempt: Attempt) -> None:
        """A generation has a new attempt; chance decides whether a server error will end it, and where."""
        generation.attempt = attempt
        generation.attempt_index += 1
        if self._context.rng.random() < self._context.settings.error_rate:
            attempt.fails_in = self._context.rng.randrange(attempt.turn, len(attempt.plan))
        self._context.observer.opened(attempt)

    def run(self, group: Group, generation: Generation, attempt: Attempt) -> None:
        """The attempt runs from here on."""
        attempt.running_since = self._context.agenda.now
        self._call(group, generation, attempt)

    def write_dispatch(self, attempt: Attempt) -> None:
        """The row of a dispatch."""
        context = self._context
        prompt_id, _, index = attempt.key
        context.write(
            "attempt_dispatched",
            group_id=attempt.group_id,
            attempt_id=attempt.attempt_id,
            prompt_id=prompt_id,
            generation_index=index,
            attempt_index=attempt.attempt_index,
            weight_version=context.servers.label,
            instance=f"server-{int(context.rng.random() * INSTANCES)}",
        )
        context.observer.dispatched(context.agenda.now)

    def abandon(self, generation: Generation, reason: str) -> None:
        """The open attempt of a generation, if there is one, ends without a result."""
        attempt = generation.attempt
        if attempt is None or attempt.outcome != "open":
            return
        self.end(attempt, "abandoned")
        attempt.ended_at = self._context.agenda.now
        generation.attempt = None
        self._context.servers.forget(attempt.calls)
        self._context.write("attempt_abandoned", attempt_id=attempt.attempt_id, reason=reason, tokens=attempt.tokens)

    def end(self, attempt: Attempt, outcome: Outcome) -> None:
        """The attempt does not run any more."""
        if attempt.call is not None:
            self._context.servers.cancel(attempt.call)
            attempt.calls.append(attempt.call)
            attempt.call = None
        attempt.stop_running(self._context.agenda.now)
        attempt.outcome = outcome

    def _dispatch(self, group: Group, generation: Generation) -> None:
        if group.is_closed:
            return
        context = self._context
        attempt = generation.attempt
        if attempt is None:
            attempt = self._new_attempt(group, generation)
            self.open(generation, attempt)
            context.observer.started_anew(attempt.key)
        self.write_dispatch(attempt)
        if not self.admits and context.rng.random() < context.settings.refusal_rate:
            context.write("attempt_refused", attempt_id=attempt.attempt_id, reason="checkpoint in progress")
            self._refused.append((group, generation))
        else:
            self.run(group, generation, attempt)

    def _new_attempt(self, group: Group, generation: Generation) -> Attempt:
        context, rng, settings = self._context, self._context.rng, self._context.settings
        calls = 1 + int(rng.random() * settings.calls)
        return Attempt(
            attempt_id=context.ids.new(),
            key=group.key(generation),
            group_id=group.group_id,
            run=context.writer.run,
            attempt_index=generation.attempt_index,
            opened_at=context.agenda.now,
            plan=[1 + int(rng.expovariate(calls / settings.tokens)) for _ in range(calls)],
            rate=settings.tokens / context.about(settings.seconds),
        )

    def _call(self, group: Group, generation: Generation, attempt: Attempt) -> None:
        context = self._context
        tokens = attempt.plan[attempt.turn] - attempt.partial
        if attempt.fails_in == attempt.turn:
            tokens = int(tokens * context.rng.random())
        call = Call(f"{attempt.attempt_id}:{attempt.turn}", context.servers.label, tokens, attempt.rate)
        attempt.call = call
        context.servers.begin(call, partial(self._call_ended, group, generation, attempt))

    def _call_ended(self, group: Group, generation: Generation, attempt: Attempt) -> None:
        assert attempt.call is not None
        attempt.calls.append(attempt.call)
        attempt.call = None
        if attempt.fails_in == attempt.turn:
            self._fail(group, generation)
            return
        attempt.turn += 1
        attempt.partial = 0
        if attempt.turn < len(attempt.plan):
            self._call(group, generation, attempt)
        else:
            self._seal(group, attempt)

    def _fail(self, group: Group, generation: Generation) -> None:
        self.abandon(generation, "server error")
        generation.failures += 1
        if generation.failures == self._context.settings.give_up_after:
            self._when_given_up(group)
        else:
            self.dispatch_soon(group, generation)

    def _seal(self, group: Group, attempt: Attempt) -> None:
        context = self._context
        self.end(attempt, "sealed")
        attempt.ended_at = context.agenda.now
        attempt.masked = context.rng.random() < context.settings.masked_rate
        reward = {} if attempt.masked else {"reward": round(context.rng.random(), 3)}
        context.write(
            "attempt_sealed", attempt_id=attempt.attempt_id, tokens=attempt.tokens, **reward, masked=attempt.masked
        )
        context.observer.sealed(context.agenda.now)
        group.unsealed -= 1
        if not group.unsealed:
            self._when_sealed(group)
