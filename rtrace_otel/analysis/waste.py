"""Where the tokens and the attempt-seconds went: every rollout in one account, per step and in total."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.checked import duration
from rtrace_otel.analysis.ledger.books import NOTHING, Disposition
from rtrace_otel.analysis.ledger.follow import RolloutFollower
from rtrace_otel.analysis.ledger.step_tokens import StepWaste
from rtrace_otel.analysis.ledger.work import Amount, Ended, Fate, Rollout
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport, added
from rtrace_otel.events import Row

BUCKETS: Final[Mapping[str, str | None]] = {
    "trained": "productive",
    "masked": "wasted",
    "abandoned": "wasted",
    "discarded": "wasted",
    "lost": "wasted",
    "waiting": None,
    "open": None,
}
"""NeMo RL's name for what an account holds (``rl.bucket``), where one fits."""

RUN_ENDED: Final = "the run ended"
"""Reason for what was sealed or open when the last run of its job was closed: it does not go on."""

LEFT_OPEN: Final = "open after its group was trained"
"""Reason for attempts that no one waited for when their run stopped."""


@dataclass(frozen=True, slots=True)
class Account:
    """Rollouts that ended in the same way.

    Attributes:
        name: ``trained``, ``masked``, ``abandoned``, ``discarded``, ``lost`` (a stop took them), ``waiting`` (sealed,
            not yet trained) or ``open``.
        reason: Why, where rows say; for ``lost`` the fate; for ``waiting`` and ``open`` whether the run has ended.
        bucket: NeMo RL's name for it, if one fits.
        amount: What they generated.
    """

    name: str
    reason: str | None
    bucket: str | None
    amount: Amount


@dataclass(frozen=True, slots=True)
class WallClock:
    """Seconds of the job's time, which pass once, whatever number of rollouts runs; parts can overlap.

    Attributes:
        whole: From the first row to the last.
        stopped: Nothing ran: between a run's last row and the next run's first.
        training: In training steps, as their rows say.
        refits: In weight syncs.
        checkpoints: From the start of checkpoints to their publication.
    """

    whole: float | None
    stopped: float
    training: float | None
    refits: float | None
    checkpoints: float | None


@dataclass(frozen=True, slots=True)
class WasteReport:
    """Every rollout of a file in one account.

    Attributes:
        accounts: Largest share of tokens first.
        begun: Rollouts that were dispatched, or resumed in the middle.
        unseen: Results kept by a restore, of which the file does not tell the beginning.
        steps: In file order.
        wall: The job's time.
        attempt_seconds: Seconds that attempts ran, added up over all accounts.
        perhaps_two_jobs: Stops that may be none, because two jobs may have written the file side by side.
    """

    accounts: tuple[Account, ...]
    begun: int
    unseen: int
    steps: tuple[StepWaste, ...]
    wall: WallClock
    attempt_seconds: float
    perhaps_two_jobs: int = 0

    @property
    def total(self) -> Amount:
        """All accounts together."""
        return added(account.amount for account in self.accounts)

    def share(self, name: str) -> float | None:
        """Share of the tokens in accounts of a name."""
        total = self.total.tokens
        return sum(a.amount.tokens for a in self.accounts if a.name == name) / total if total else None

    def self_check(self) -> None:
        """Conservation: every rollout that began is in exactly one account.

        Raises:
            AssertionError: It does not add up.
        """
        assert self.total.rollouts == self.begun + self.unseen, (self.total.rollouts, self.begun, self.unseen)
        assert all(account.amount.rollouts >= 0 for account in self.accounts), self.accounts


def waste_report(events: Iterable[Row]) -> WasteReport:
    """Where the tokens of a file went, in one pass.

    Args:
        events: Rows in file order, of all runs; for memory see :func:`rtrace_otel.analysis.restore.restore_report`.
    """
    fold = WasteFold()
    for row in events:
        fold.add(row)
    return fold.result()


class WasteFold:
    """Builds a :class:`WasteReport` row by row.

    Args:
        restores: Follows the rollouts of the same pass; it must have seen a row before this does.
    """

    def __init__(self, restores: RestoreFold | None = None) -> None:
        """Begin with no row seen."""
        self._own = restores is None
        self._restores = restores or RestoreFold()
        self._training: float | None = None
        self._refits: float | None = None

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        if self._own:
            self._restores.add(row)
        event = row["event"]
        if event == "train_step" or event == "weight_sync":
            seconds = duration(row.get("seconds"))
            if seconds is not None and event == "train_step":
                self._training = (self._training or 0.0) + seconds
            elif seconds is not None:
                self._refits = (self._refits or 0.0) + seconds

    def result(self) -> WasteReport:
        """The report over the rows so far."""
        follower = self._restores.follower
        report = self._restores.result()
        booked = dict(follower.books.accounts)
        for key, amount in _left_open(follower):
            booked[key] = booked.get(key, NOTHING) + amount
        accounts = [
            Account(name, reason, BUCKETS[name], amount) for (name, reason), amount in booked.items() if amount.rollouts
        ]
        accounts += _lost(follower)
        accounts += self._unfinished()
        accounts.sort(key=lambda account: account.amount.tokens, reverse=True)
        return WasteReport(
            accounts=tuple(accounts),
            begun=follower.books.begun,
            unseen=follower.books.unseen,
            steps=tuple(follower.books.steps()),
            wall=self._wall(report),
            attempt_seconds=sum(account.amount.attempt_seconds for account in accounts),
            perhaps_two_jobs=sum(stop.may_be_two_jobs for stop in report.stops),
        )

    def _unfinished(self) -> Iterator[Account]:
        follower = self._restores.follower
        found: dict[tuple[str, str | None], Amount] = {}
        for branch in follower.heirs.branches:
            if branch.given_up:
                continue
            sealed = (r for group in branch.groups.values() for r in group.rollouts if r.ended is Ended.SEALED)
            reason = RUN_ENDED if branch.run in follower.ended else None
            for name, rollouts in (("waiting", sealed), ("open", branch.open.values())):
                for rollout in rollouts:
                    found[name, reason] = found.get((name, reason), NOTHING) + _amount(rollout, branch.pace.last)
        for (name, reason), amount in found.items():
            yield Account(name, reason, BUCKETS[name], amount)

    def _wall(self, report: RestoreReport) -> WallClock:
        paces = self._restores.follower.paces
        starts = [pace.started for pace in paces if pace.started is not None]
        ends = [pace.last for pace in paces if pace.last is not None]
        return WallClock(
            whole=max(ends) - min(starts) if starts and ends else None,
            stopped=sum(max(stop.dead_s or 0.0, 0.0) for stop in report.stops),
            training=self._training,
            refits=self._refits,
            checkpoints=report.barrier.seconds,
        )


def _left_open(follower: RolloutFollower) -> Iterator[tuple[tuple[str, str | None], Amount]]:
    """Attempts that a run which stopped had left open although their group was trained or discarded before."""
    for branch in follower.heirs.branches:
        for rollout in branch.open.values() if branch.given_up else ():
            if rollout.taken is None:
                key = Disposition.DISCARDED.value, rollout.group.discarded or LEFT_OPEN
                yield key, _amount(rollout, branch.pace.last)


def _lost(follower: RolloutFollower) -> Iterator[Account]:
    """What stops took, by fate: what came back whole lives on in other accounts, and so do the tokens carried over."""
    lost: dict[Fate, Amount] = {}
    for stop in follower.stops:
        finished, until = follower.job_ended(stop), stop.stopped.pace.last
        for fate, amount in stop.settled.plus(stop.losses, until, finished=finished).lost.items():
            lost[fate] = lost.get(fate, NOTHING) + amount
        if stop.forgotten.rollouts:
            lost[Fate.UNKNOWN] = lost.get(Fate.UNKNOWN, NOTHING) + stop.forgotten
    for fate, amount in lost.items():
        yield Account("lost", fate.value, BUCKETS["lost"], amount)


def _amount(rollout: Rollout, until: float | None) -> Amount:
    return Amount(1, rollout.tokens, rollout.exact, 0, rollout.seconds(until))
