"""A different job for every seed, so that a property test meets every kind of stop and fault."""

from __future__ import annotations

import random

from rtrace_otel.testing.settings import SimulationSettings, Stop


def varied_settings(seed: int) -> SimulationSettings:
    """A small job whose every setting, and every stop, is drawn from the seed.

    Args:
        seed: Any whole number; the same seed gives the same job.

    Returns:
        Settings of a job with up to four stops: a few hundred rows as a rule, rarely more than 10,000.
    """
    rng = random.Random(f"varied/{seed}")  # noqa: S311 - settings, not secrets
    groups_per_step = rng.randint(1, 4)
    steps = rng.randint(2, 20)
    prompts = rng.choice((5, 30, 200))
    at_steps = sorted(rng.choices(range(steps // 3, steps), k=rng.randint(0, 4)))
    return SimulationSettings(
        seed=seed,
        prompts=prompts,
        epochs=1 + int(steps * groups_per_step * rng.choice((0.7, 2.0, 4.0)) / prompts),
        generations=rng.randint(1, 5),
        groups_per_step=groups_per_step,
        steps=steps,
        open_groups=groups_per_step * rng.randint(1, 4),
        tokens=rng.choice((3.0, 200.0)),
        seconds=rng.choice((2.0, 20.0, 60.0)),
        calls=rng.randint(1, 4),
        train_s=rng.choice((2.0, 5.0, 15.0)),
        refit_every=rng.choice((1, 1, 1, 2, 3)),
        checkpoint_every=rng.choice((1, 1, 2, 2, 3, 4, 5, None)),
        checkpoint_s=rng.choice((0.5, 0.5, 4.0, 20.0)),
        stops=tuple(_varied_stop(rng, at_step) for at_step in at_steps),
        keeps=rng.choice(("nothing", "group", "sibling", "turn", "turn", "prefix", "prefix")),
        new_group_ids=rng.random() < 0.3,
        derived_attempt_ids=rng.random() < 0.2,
        version_restarts=rng.random() < 0.2,
        refusal_rate=rng.choice((0.0, 0.5, 1.0)),
        error_rate=rng.choice((0.0, 0.05, 0.4)),
        give_up_after=rng.choice((None, 1, 2)),
        masked_rate=rng.choice((0.0, 0.05, 0.4)),
        staleness_limit=rng.choice((None, None, 0, 1, 3)),
        replacements=rng.random() < 0.5,
        writes_epoch=rng.random() < 0.7,
        writes_checkpoint_started=rng.random() < 0.7,
        writes_resumed_dispatch=rng.random() < 0.3,
        ending=rng.choice(("clean", "killed", "running")),
    )


def _varied_stop(rng: random.Random, at_step: int) -> Stop:
    return Stop(
        at_step=at_step if rng.random() < 0.8 else 0,
        after_rows=rng.choice((0, 3, 10, 40, 120)),
        how=rng.choice(("kill", "kill", "kill", "clean", "drained")),
        checkpoint=rng.choice((0, 0, 0, 0, 0, 0, 1, 1, 2, None)),
        down_s=rng.choice((0.0, 30.0, 3_000.0)),
        late_row=rng.random() < 0.3,
    )
