"""What a checkpoint keeps of the groups, and how a run brings them back."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rtrace_otel.testing.context import Context
from rtrace_otel.testing.pump import Pump
from rtrace_otel.testing.servers import Servers
from rtrace_otel.testing.state import Attempt, Generation, Group, Kept, Snapshot
from rtrace_otel.testing.truth import Fate


def take_snapshot(context: Context, pump: Pump, step: int, training: Iterable[Group]) -> Snapshot:
    """What a checkpoint of this moment holds; the groups that a step is training on wait again."""
    keeps, run = context.settings.keeps, context.writer.run

    def keep(generation: Generation) -> Generation:
        copy = Generation(generation.index, generation.attempt_index)
        attempt = generation.attempt
        if attempt is not None and keeps != "group":
            if attempt.outcome == "sealed":
                copy.attempt = attempt
            elif keeps in {"turn", "prefix"}:
                copy.kept = _kept(attempt, context.servers if keeps == "prefix" else None)
        return copy

    return Snapshot(
        checkpoint_id=f"step-{step:04d}",
        run=run,
        step=step,
        cursor=pump.cursor,
        spares=pump.spares,
        ready=[_copy(group, run, _same) for group in (*training, *pump.ready)],
        in_flight=[] if keeps == "nothing" else [_copy(group, run, keep) for group in pump.in_flight.values()],
    )


def bring_back(context: Context, pump: Pump, snapshot: Snapshot, seconds: float) -> None:
    """Bring back what a checkpoint holds; each generation is kept, resumed, or dispatched from the start.

    Args:
        context: The new run.
        pump: Its groups, still none.
        snapshot: The checkpoint; it can be restored again.
        seconds: How long it took to load.
    """
    pump.cursor, pump.spares = snapshot.cursor, snapshot.spares
    ready, in_flight = (
        [_copy(group, snapshot.run, _same) for group in groups] for groups in (snapshot.ready, snapshot.in_flight)
    )
    groups = (*ready, *in_flight)
    if context.settings.new_group_ids:
        for group in groups:
            group.group_id = context.ids.new()
    context.write(
        "checkpoint_restored",
        checkpoint_id=snapshot.checkpoint_id,
        step=snapshot.step,
        groups=[group.group_id for group in groups],
        from_run=snapshot.run,
        seconds=seconds,
    )
    for group in groups:
        pump.write_reserved(group)
    for group in ready:
        _bring_back_published(context, pump, group)
    for group in in_flight:
        pump.in_flight[group.group_id] = group
        for generation in group.generations:
            _bring_back_generation(context, pump, group, generation)


def _bring_back_published(context: Context, pump: Pump, group: Group) -> None:
    if not context.settings.new_group_ids:
        pump.ready.append(group)
        return
    pump.publish(group)
    for attempt in group.results():
        context.observer.brought_back(attempt.key, Fate.REUSED, attempt.tokens)


def _bring_back_generation(context: Context, pump: Pump, group: Group, generation: Generation) -> None:
    attempt, kept, generation.kept = generation.attempt, generation.kept, None
    if attempt is not None:
        _write_resumed(context, group, generation, attempt.attempt_id, "sibling", None, attempt.tokens)
        context.observer.brought_back(attempt.key, Fate.REUSED, attempt.tokens)
    elif kept is not None:
        _resume(context, pump, group, generation, kept)
    else:
        pump.rollouts.dispatch_soon(group, generation)


def _resume(context: Context, pump: Pump, group: Group, generation: Generation, kept: Kept) -> None:
    derived = f"{kept.previous.partition('-')[0]}-{generation.attempt_index}"
    attempt = Attempt(
        attempt_id=derived if context.settings.derived_attempt_ids else context.ids.new(),
        key=group.key(generation),
        group_id=group.group_id,
        run=context.writer.run,
        attempt_index=generation.attempt_index,
        opened_at=context.agenda.now,
        plan=kept.plan,
        rate=kept.rate,
        calls=list(kept.calls),
        turn=kept.turn,
        partial=kept.partial,
        tokens_kept=sum(call.tokens for call in kept.calls),
        previous=kept.previous,
    )
    level = context.settings.keeps
    _write_resumed(context, group, generation, attempt.attempt_id, level, kept.previous, attempt.tokens_kept)
    pump.rollouts.open(generation, attempt)
    context.observer.brought_back(attempt.key, Fate.RESUMED, attempt.tokens_kept)
    if context.settings.writes_resumed_dispatch:
        pump.rollouts.write_dispatch(attempt)
    pump.rollouts.run(group, generation, attempt)


def _write_resumed(
    context: Context,
    group: Group,
    generation: Generation,
    attempt_id: str,
    level: str,
    previous: str | None,
    tokens_kept: int,
) -> None:
    context.write(
        "attempt_resumed",
        attempt_id=attempt_id,
        level=level,
        **({} if previous is None else {"previous_attempt_id": previous}),
        tokens_kept=tokens_kept,
        group_id=group.group_id,
        prompt_id=group.prompt_id,
        generation_index=generation.index,
    )


def _copy(group: Group, run: str, copy_generation: Callable[[Generation], Generation]) -> Group:
    generations = [copy_generation(generation) for generation in group.generations]
    return Group(
        group_id=group.group_id,
        prompt_id=group.prompt_id,
        epoch=group.epoch,
        start_version=group.start_version,
        start_label=group.start_label,
        generations=generations,
        origin_run=group.origin_run or run,
        unsealed=sum(generation.attempt is None for generation in generations),
        calls=group.calls,
        counts=group.counts,
    )


def _same(generation: Generation) -> Generation:
    return Generation(generation.index, generation.attempt_index, generation.attempt, generation.kept)


def _kept(attempt: Attempt, servers: Servers | None) -> Kept | None:
    """The complete turns of an open attempt and, given the servers, also its tokens since; ``None`` without any."""
    calls, partial = list(attempt.calls), attempt.partial
    if servers is not None and attempt.call is not None and servers.count(attempt.call):
        calls.append(attempt.call.stored(attempt.call.counted))
        partial += attempt.call.counted
    if not any(call.tokens for call in calls):
        return None
    return Kept(attempt.attempt_id, calls, attempt.plan, attempt.rate, attempt.turn, partial)
