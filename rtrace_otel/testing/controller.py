"""One run of the simulated controller: trains, refits, takes checkpoints, until it finishes or is stopped."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator

from rtrace_otel.events import SCHEMA_VERSION, Row
from rtrace_otel.testing.context import Context
from rtrace_otel.testing.observer import Observer
from rtrace_otel.testing.pump import Pump
from rtrace_otel.testing.restore import bring_back, take_snapshot
from rtrace_otel.testing.rows import Ids, RowWriter
from rtrace_otel.testing.servers import Agenda, Servers
from rtrace_otel.testing.settings import SimulationSettings, Stop
from rtrace_otel.testing.state import Group, Snapshot


class Controller:
    """Trains on groups as they come, and pushes new weights while rollouts run.

    Versions are counted from the job's start: version n is what n training steps have made.

    Args:
        settings: The job.
        rng: Where all chance comes from.
        ids: New ids.
        observer: Is told of what happens.
        now: When the run begins, in Unix seconds.
        snapshot: The checkpoint that it restores.
        stop: When it is stopped; ``None`` for never.
        published: Its timeline's checkpoints, the latest last; it adds its own.

    Attributes:
        run: Its id.
        was_stopped: Whether it was stopped, once its rows are exhausted.
    """

    def __init__(
        self,
        settings: SimulationSettings,
        rng: random.Random,
        ids: Ids,
        observer: Observer,
        now: float,
        snapshot: Snapshot | None,
        stop: Stop | None,
        published: deque[Snapshot],
    ) -> None:
        """Begin with nothing done."""
        self._snapshot = snapshot
        self._stop = stop
        self._published = published
        self._step = snapshot.step if snapshot else 0
        self._offset = self._step if settings.version_restarts else 0
        self._writer = RowWriter(ids.new())
        self._agenda = Agenda(round(now, 6))
        self._servers = Servers(self._agenda, self._step, self._offset)
        self._context = Context(settings, rng, ids, observer, self._writer, self._agenda, self._servers)
        self._pump = Pump(self._context, self._go_on)
        self._training: list[Group] = []
        self._is_busy = True
        self._is_saving = False
        self._stop_after: int | None = None
        self.run = self._writer.run
        self.was_stopped = False

    @property
    def now(self) -> float:
        """Time of the last row, once the rows are exhausted."""
        return self._agenda.now

    @property
    def untrained(self) -> list[Group]:
        """Its groups that are neither trained nor discarded."""
        return [*self._training, *self._pump.ready, *self._pump.in_flight.values()]

    def rows(self) -> Iterator[Row]:
        """The rows of the whole run."""
        self._begin()
        yield from self._writer.take()
        while not self._is_finished() and not self._must_stop() and self._do_next():
            yield from self._writer.take()
        self._end()
        yield from self._writer.take()

    def _begin(self) -> None:
        context = self._context
        context.write(
            "run_started",
            schema=SCHEMA_VERSION,
            host=f"node-{context.rng.randrange(8)}",
            pid=context.rng.randrange(1_000, 60_000),
            service="simulation",
            weight_version=self._servers.label,
        )
        context.observer.run_began(self.run, self.now)
        seconds = context.about(context.settings.load_s)
        self._agenda.after(seconds, lambda: self._loaded(seconds))

    def _loaded(self, seconds: float) -> None:
        label = self._servers.label
        self._context.write("weight_sync", replaced_version=label, new_version=label, calls=[], seconds=seconds)
        if self._snapshot is not None:
            bring_back(self._context, self._pump, self._snapshot, seconds)
        self._context.observer.loaded()
        self._is_busy = False
        self._go_on()

    def _do_next(self) -> bool:
        """Let the next thing happen; False if nothing can happen any more, because the dataset is used up."""
        call_ends, action_due = self._servers.due(), self._agenda.due()
        if call_ends is not None and (action_due is None or call_ends <= action_due):
            self._servers.do_next()
        elif action_due is not None:
            self._agenda.do_next()
        else:
            return False
        return True

    def _go_on(self) -> None:
        settings = self._context.settings
        self._pump.fill()
        if self._is_busy or self._step == settings.steps or len(self._pump.ready) < settings.groups_per_step:
            return
        self._is_busy = True
        self._training = self._pump.take(settings.groups_per_step)
        seconds = self._context.about(settings.train_s)
        self._context.write("train_step_started", step=self._step + 1)
        self._agenda.after(seconds, lambda: self._trained(seconds))
        self._pump.fill()

    def _trained(self, seconds: float) -> None:
        label, groups = self._step - self._offset, self._training
        counts = [(version, tokens) for group in groups for version, tokens in group.counts.items()]
        tokens = sum(count for _, count in counts)
        self._step += 1
        self._training = []
        self._context.write(
            "train_step",
            step=self._step,
            trained_version=label,
            group_ids=[group.group_id for group in groups],
            batch_age=label - sum(version * count for version, count in counts) / tokens if tokens else None,
            tokens=tokens,
            seconds=seconds,
        )
        self._context.observer.trained(self.now, self._step, label, groups)
        if self._step % self._context.settings.refit_every:
            self._after_step()
        else:
            self._refit()

    def _refit(self) -> None:
        self._context.write("weight_sync_started")
        self._servers.pause()
        seconds = self._context.about(self._context.settings.refit_s)
        self._agenda.after(seconds, lambda: self._refitted(seconds))

    def _refitted(self, seconds: float) -> None:
        replaced = self._servers.label
        calls = self._servers.install(self._step)
        self._context.write(
            "weight_sync",
            replaced_version=replaced,
            new_version=self._servers.label,
            calls=calls,
            seconds=seconds,
        )
        self._after_step()

    def _after_step(self) -> None:
        settings = self._context.settings
        if settings.staleness_limit is not None:
            self._pump.oldest = self._step - settings.staleness_limit
            self._pump.discard_stale()
        every = settings.checkpoint_every
        if every is not None and self._step % every == 0 and not self._is_saving:
            self._begin_checkpoint()
        self._is_busy = False
        self._go_on()

    def _begin_checkpoint(self) -> None:
        """From here on dispatches can be refused; the rest happens while the next step trains."""
        self._is_saving = True
        self._pump.rollouts.admits = False
        snapshot = None
        if self._context.settings.writes_checkpoint_started:
            self._context.write("checkpoint_started")
            snapshot = take_snapshot(self._context, self._pump, self._step, ())
        seconds = self._context.about(self._context.settings.checkpoint_s)
        self._agenda.after(seconds, lambda: self._publish_checkpoint(snapshot, seconds))

    def _publish_checkpoint(self, snapshot: Snapshot | None, seconds: float) -> None:
        took: dict[str, float] = {"seconds": seconds}
        if snapshot is None:
            snapshot = take_snapshot(self._context, self._pump, self._step, self._training)
            took = {}  # the contents are of this moment, and a duration would say that they are older
        self._published.append(snapshot)
        self._context.write(
            "checkpoint_published",
            checkpoint_id=snapshot.checkpoint_id,
            step=snapshot.step,
            kind="snapshot",
            groups=snapshot.group_ids,
            **took,
        )
        self._is_saving = False
        self._pump.rollouts.admit()

    def _is_finished(self) -> bool:
        return self._step == self._context.settings.steps and not self._is_busy and not self._is_saving

    def _must_stop(self) -> bool:
        if self._stop is None:
            return False
        if self._stop_after is None and self._step >= self._stop.at_step:
            begun_there = self._snapshot is not None and self._snapshot.step >= self._stop.at_step
            reached_at = 0 if begun_there or self._stop.at_step == 0 else self._writer.count
            self._stop_after = reached_at + self._stop.after_rows
        self.was_stopped = self._stop_after is not None and self._writer.count >= self._stop_after
        return self.was_stopped

    def _end(self) -> None:
        """Write what a run writes that is stopped like this, or that ends as the job's last."""
        ending = self._context.settings.ending
        how = self._stop.how if self.was_stopped and self._stop else ("drained" if ending == "clean" else ending)
        if how == "drained":
            self._pump.ready = [*self._training, *self._pump.ready]
            self._training = []
            self._pump.drain()
        if how in {"clean", "drained"}:
            self._context.write("run_ended", reason="stopped" if self.was_stopped else "closed")
        self._pump.cut_off("open" if how == "running" else "interrupted")
