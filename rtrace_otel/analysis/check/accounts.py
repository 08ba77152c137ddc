"""Books every rollout and its tokens until its group is settled: the two conservation laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.ledger import Balance, Ledger
from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.values import identities, identity, named, whole
from rtrace_otel.analysis.runs import HowEnded
from rtrace_otel.events import Row


class Sealed(NamedTuple):
    """A result that waits for its group.

    Attributes:
        life: Where it was sealed.
        tokens: Tokens generated, if the row says.
        kept: Tokens that a resume kept; whether ``tokens`` includes them is up to the recorder.
        masked: Whether training masks it out.
    """

    life: Life
    tokens: int | None
    kept: int
    masked: bool


@dataclass(slots=True)
class _Account:
    holder: Life
    reserved: bool = False
    brought_back: bool = False
    generations: int | None = None
    open: int = 0
    sealed: dict[str, Sealed] = field(default_factory=dict)
    siblings: dict[str, int | None] = field(default_factory=dict)
    """Results that a restore kept, with their tokens."""
    active_in: set[int] = field(default_factory=set)
    """Timelines on which the group was generating."""

    def tokens(self) -> int | None:
        """Tokens that the group's attempts generated at most; ``None`` unless all are known."""
        several = [one.tokens for one in self.sealed.values()]
        several += [tokens for name, tokens in self.siblings.items() if name not in self.sealed]
        if not several or None in several or not self._is_complete(len(several)):
            return None
        return sum(filter(None, several))

    def _is_complete(self, results: int) -> bool:
        if self.generations is not None:
            return results >= self.generations
        return self.reserved and not self.brought_back and not self.open


class Accounts:
    """The books of all groups that are not settled.

    Args:
        findings: Takes RT301, RT311 and RT312.
    """

    def __init__(self, findings: Findings) -> None:
        """Begin with empty books."""
        self._findings = findings
        self._accounts: dict[str, _Account] = {}
        self._begun = 0
        self._generated = 0
        self._rollouts = Counter[str]()
        self._tokens = Counter[str]()
        self._untold = 0
        self._groupless: dict[str, tuple[int, int]] = {}

    def reserve(self, row: Row, place: Place) -> None:
        """A group is reserved, anew or after a restore."""
        group_id = identity(row, "group_id")
        if group_id is None:
            return
        account = self._account(group_id, place.life)
        account.generations = whole(row.get("generations"))
        if row.get("origin_run") in (None, row["run"]):
            account.reserved = True
        else:
            account.brought_back = True

    def restore(self, row: Row, place: Place) -> None:
        """A restore brings groups back."""
        for group_id in identities(row.get("groups")):
            self._account(group_id, place.life).brought_back = True

    def keep(self, row: Row, life: Life) -> None:
        """A restore kept a sealed sibling."""
        group_id, attempt_id = identity(row, "group_id"), identity(row, "attempt_id")
        if group_id is not None and attempt_id is not None:
            account = self._account(group_id, life)
            account.brought_back = True
            account.siblings[attempt_id] = whole(row.get("tokens_kept"))
            account.active_in.add(life.timeline)

    def begin(self, group_id: str | None, life: Life) -> None:
        """An attempt began."""
        self._begun += 1
        if group_id is not None:
            account = self._account(group_id, life)
            account.open += 1
            account.active_in.add(life.timeline)

    def seal(self, attempt_id: str, group_id: str | None, result: Sealed) -> None:
        """An attempt that was open has its result."""
        self._tell(result.tokens)
        if group_id is None:
            number, total = self._groupless.get(result.life.run, (0, 0))
            self._groupless[result.life.run] = (number + 1, total + (result.tokens or 0))
            return
        account = self._account(group_id, result.life)
        account.open -= 1
        account.sealed[f"{attempt_id}/{len(account.sealed)}" if attempt_id in account.sealed else attempt_id] = result

    def abandon(self, group_id: str | None, tokens: int | None) -> None:
        """An attempt that was open was given up."""
        self._tell(tokens)
        self._book("abandoned", tokens)
        account = self._accounts.get(group_id or "")
        if account is not None:
            account.open -= 1

    def end_unmatched(self, tokens: int | None) -> None:
        """A row ends an attempt that is not open."""
        self._rollouts["unmatched"] += 1
        self._tokens["unmatched"] += tokens or 0

    def train(self, group_id: str, place: Place, published: int | None) -> None:
        """A step trained on a group; what it had is settled.

        Args:
            group_id: The group.
            place: The step's row.
            published: Tokens that its publication names, if it does.
        """
        account = self._accounts.pop(group_id, None)
        if account is None:
            return
        held, lost = _split(account, place.life)
        generated = account.tokens()
        if published is None or generated is None:
            self._settle(held, "trained")
            self._settle(lost, "lost")
            return
        allowed = sum(one.kept for one in account.sealed.values())
        if published > generated + allowed:
            self._findings.report("RT301", place, _too_many(group_id, published, generated, allowed))
        elif published > sum(one.tokens or 0 for one in held) + allowed:
            held, lost = held + lost, []  # the restore kept them, though no row says so
        self._settle(lost, "lost")
        if not held or any(name not in account.sealed for name in account.siblings):
            self._settle(held, "trained")
        else:
            self._settle_as_published(held, published)

    def _settle_as_published(self, held: list[Sealed], published: int) -> None:
        generated, kept = sum(one.tokens or 0 for one in held), sum(one.kept for one in held)
        if generated < published <= generated + kept:  # this recorder's seals leave out what a resume kept
            self._generated += published - generated
            generated = published
        for one in held:
            self._rollouts["masked" if one.masked else "trained"] += 1
        self._tokens["trained"] += published
        self._tokens["masked"] += max(generated - published, 0)

    def discard(self, row: Row, place: Place) -> None:
        """A group is discarded; what it had is settled."""
        account = self._accounts.pop(identity(row, "group_id") or "", None)
        if account is not None:
            held, lost = _split(account, place.life)
            self._settle(held, "discarded")
            self._settle(lost, "lost")

    def result(self, open_attempts: Iterable[Life], ended: Mapping[str, HowEnded]) -> Ledger:
        """The ledger at the end of the file.

        Args:
            open_attempts: For each attempt that is open, where it began.
            ended: How each run ended.
        """
        rollouts, tokens, untold = self._rollouts.copy(), self._tokens.copy(), self._untold
        for life in open_attempts:
            rollouts[_left(life.run, ended)] += 1
            untold += 1
        for account in self._accounts.values():
            held, lost = _split(account, account.holder)
            for outcome, results in ((_left(account.holder.run, ended), held), ("lost", lost)):
                rollouts[outcome] += len(results)
                tokens[outcome] += sum(one.tokens or 0 for one in results)
        for run, (number, total) in self._groupless.items():
            rollouts[_left(run, ended)] += number
            tokens[_left(run, ended)] += total
        return Ledger(_balance(self._begun, rollouts), _balance(self._generated, tokens), untold)

    def _account(self, group_id: str, life: Life) -> _Account:
        account = self._accounts.get(group_id)
        if account is None:
            account = self._accounts[group_id] = _Account(life)
        account.holder = life
        return account

    def _tell(self, tokens: int | None) -> None:
        if tokens is None:
            self._untold += 1
        else:
            self._generated += tokens

    def _book(self, outcome: str, tokens: int | None) -> None:
        self._rollouts[outcome] += 1
        self._tokens[outcome] += tokens or 0

    def _settle(self, results: Iterable[Sealed], outcome: str) -> None:
        for one in results:
            self._book("masked" if one.masked and outcome != "lost" else outcome, one.tokens)


def _split(account: _Account, life: Life) -> tuple[list[Sealed], list[Sealed]]:
    """The results that a life holds, and those that are lost to it.

    A restored group that generates again has of its earlier results only those that the restore kept.
    """
    held: list[Sealed] = []
    lost: list[Sealed] = []
    went_on = life.timeline in account.active_in
    for name, one in account.sealed.items():
        is_lost = went_on and one.life.timeline != life.timeline and name not in account.siblings
        (lost if is_lost else held).append(one)
    return held, lost


def _left(run: str, ended: Mapping[str, HowEnded]) -> str:
    """What becomes of that which a run leaves unfinished."""
    return "lost" if ended.get(run) == "killed" else "open"


def _balance(generated: int, parts: Counter[str]) -> Balance:
    return Balance(
        generated=generated,
        trained=parts["trained"],
        masked=parts["masked"],
        discarded=parts["discarded"],
        abandoned=parts["abandoned"],
        lost=parts["lost"],
        open=parts["open"],
        unmatched=parts["unmatched"],
    )


def _too_many(group_id: str, published: int, generated: int, allowed: int) -> str:
    kept = f" and {allowed:,} kept by resumes" if allowed else ""
    return (
        f"Group {named(group_id)} was trained on {published:,} tokens; its attempts generated {generated:,}{kept}, "
        f"{published - generated - allowed:,} fewer."
    )
