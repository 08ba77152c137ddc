"""All rules over one pass of a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from rtrace_otel.analysis.age.ages import AgeFold, TrainedStep
from rtrace_otel.analysis.check.accounts import Accounts
from rtrace_otel.analysis.check.attempts import AttemptRules
from rtrace_otel.analysis.check.calls import CallRules
from rtrace_otel.analysis.check.file_damage import report_damage
from rtrace_otel.analysis.check.findings import Findings, Missing, is_judged
from rtrace_otel.analysis.check.groups import GroupRules
from rtrace_otel.analysis.check.ledger import Balance, Ledger
from rtrace_otel.analysis.check.lineage import Life, Lineage, Place
from rtrace_otel.analysis.check.phases import PhaseRules
from rtrace_otel.analysis.check.registry import RULES_BY_CODE
from rtrace_otel.analysis.check.results import CheckReport, Skipped
from rtrace_otel.analysis.check.staleness import AgeRules
from rtrace_otel.analysis.check.stream import StreamRules
from rtrace_otel.analysis.check.versions import VersionRules
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.events import Row

MISSING: Final = "Rows are missing here."
UNNUMBERED: Final = "Rows here have no sequence numbers, so some may be missing."
UNKNOWN_PAST: Final = "The file may not hold the rows before this restore."
FROM_SPANS: Final = "Rows here were rebuilt from spans, so some may be missing."

_OF_THE_FILE: Final = frozenset({"RT311", "RT312"})
"""Rules that are judged of all runs together, or not at all."""


def check_trace(reader: EventReader, *, codes: Collection[str] = tuple(RULES_BY_CODE)) -> CheckReport:
    """Check a trace in one pass.

    Args:
        reader: A reader that has given no row yet.
        codes: The rules to judge.

    Returns:
        The findings, and where every rollout and token went.
    """
    fold = CheckFold(codes)
    for row in reader:
        fold.add(row, reader.line)
    return fold.result(reader.report)


class CheckFold:
    """Builds a :class:`CheckReport` row by row.

    Memory grows with what is open and with the runs, not with the rows: of ended attempts and settled groups the latest
    50,000 are remembered, of findings 100 for each code.

    Args:
        codes: The rules to judge.
        runs: The runs, if another analysis of the same pass has each row added to them before it comes here.
        watch: Called with each step and its staleness when it is trained; see :class:`AgeRules`.
        ages: The ages, if another analysis of the same pass has each row added to them before it comes here.
    """

    def __init__(
        self,
        codes: Collection[str] = tuple(RULES_BY_CODE),
        *,
        runs: RunFold | None = None,
        watch: Callable[[TrainedStep], None] | None = None,
        ages: AgeFold | None = None,
    ) -> None:
        """Begin with no row seen."""
        self._codes = tuple(code for code in RULES_BY_CODE if code in set(codes))
        self._findings = Findings(self._codes)
        self._lineage = Lineage()
        self._runs = RunFold() if runs is None else runs
        self._adds_to_runs = runs is None
        self._rows = 0
        self._accounts = Accounts(self._findings)
        self._attempts = AttemptRules(self._findings, self._accounts)
        self._groups = GroupRules(self._findings, self._accounts)
        self._versions = VersionRules(self._findings)
        self._phases = PhaseRules(self._findings)
        self._calls = CallRules(self._findings)
        self._ages = AgeRules(self._findings, self._calls.settle, watch, ages)
        self._stream = StreamRules(self._findings)
        self._of_attempts: dict[str, Callable[[Row, Life, int], None]] = {
            "attempt_dispatched": self._attempts.dispatch,
            "attempt_resumed": self._attempts.resume,
            "attempt_sealed": self._attempts.seal,
            "attempt_abandoned": self._attempts.abandon,
        }
        self._handlers: dict[str, tuple[Callable[[Row, Place], None], ...]] = {
            "group_reserved": (self._accounts.reserve,),
            "group_sealed": (self._ages.follow, self._calls.publish, self._groups.seal),
            "group_published": (
                self._ages.follow,
                self._calls.publish,
                self._groups.publish,
                self._versions.publish,
            ),
            "group_discarded": (self._ages.follow, self._groups.discard),
            "train_step_started": (self._phases.start_step,),
            "train_step": (self._ages.train, self._groups.train, self._phases.end_step),
            "weight_sync_started": (self._versions.start_refit, self._phases.start_refit),
            "weight_sync": (self._ages.follow, self._calls.refit, self._versions.refit, self._phases.end_refit),
            "checkpoint_started": (self._phases.start_checkpoint,),
            "checkpoint_published": (self._phases.end_checkpoint,),
            "checkpoint_restored": (self._accounts.restore,),
            "trace_gap": (self._stream.lose,),
            "clock_adjusted": (self._stream.adjust_clock,),
        }

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Its physical line, from 1.
        """
        self._rows += 1
        if self._adds_to_runs:
            self._runs.add(row)
        life, event = self._lineage.add(row), row["event"]
        self._stream.look(row, life, line)
        of_attempt = self._of_attempts.get(event)
        if of_attempt is not None:  # most rows
            of_attempt(row, life, line)
        elif event in self._handlers:
            place = Place(life, line)
            for handle in self._handlers[event]:
                handle(row, place)

    def result(self, read: ReadReport) -> CheckReport:
        """The report of the rows so far, as if the file ended here.

        Args:
            read: What the reader met.
        """
        with self._findings.provisional():
            return self._judged(read)

    def _judged(self, read: ReadReport) -> CheckReport:
        ended = {run.run: run.ended_how for run in self._runs.result()}
        self._attempts.finish(ended)
        self._versions.finish(ended)
        self._phases.finish()
        self._ages.finish()
        lives = self._lineage.lives
        report_damage(self._findings, read, {life.run: life for life in lives})
        ledger = None
        if not any(life.from_spans for life in lives):
            ledger = self._accounts.result(self._attempts.open_attempts(), ended)
            self._check_ledger(ledger)
        findings, counts = self._findings.result(self._missing(read))
        skipped = tuple(_skipped(self._codes, lives))
        nowhere = {rule.code for rule in skipped if rule.everywhere}
        return CheckReport(
            rows=self._rows,
            runs=tuple(life.run for life in lives),
            rules=tuple(code for code in self._codes if code not in nowhere),
            skipped=skipped,
            findings=findings,
            counts=counts,
            ledger=ledger,
        )

    def _check_ledger(self, ledger: Ledger) -> None:
        for code, what, balance in (("RT311", "Rollouts", ledger.rollouts), ("RT312", "Tokens", ledger.tokens)):
            if balance.residual:
                self._findings.report(code, None, _unbalanced(what, balance))

    def _missing(self, read: ReadReport) -> Missing:
        gaps = {gap.run for gap in read.gaps} | self._stream.runs_with_gaps
        unlisted = read.gap_count > len(read.gaps)

        def missing(life: Life | None) -> str:
            if life is None:
                everywhere = (why for latest in self._lineage.lives if (why := missing(latest)))
                return next(everywhere, "")
            past = [ancestor for ancestor, _ in life.ancestry()]
            if unlisted or any(one.run in gaps for one in past):
                return MISSING
            if any(one.from_spans for one in past):
                return FROM_SPANS
            if any(not one.numbered for one in past):
                return UNNUMBERED
            return "" if past[-1].known else UNKNOWN_PAST

        return missing


def _unbalanced(what: str, balance: Balance) -> str:
    told = balance.generated - balance.residual
    return f"{what}: {balance.generated:,} generated, {told:,} with a fate; the difference is {balance.residual:+,}."


def _skipped(codes: Iterable[str], lives: Collection[Life]) -> Iterable[Skipped]:
    for code in codes:
        unjudged = [life for life in lives if not is_judged(code, life)]
        file_wide = code in _OF_THE_FILE and any(life.from_spans for life in lives)
        if unjudged:
            why = "rebuilt from spans" if unjudged[0].from_spans else "no sequence numbers"
            runs = tuple(life.run for life in unjudged)
            yield Skipped(code, runs, file_wide or len(unjudged) == len(lives), why)
