"""The spans of one run: which row opens, marks and ends which span."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rtrace_otel.events import Row
from rtrace_otel.spans import ids
from rtrace_otel.spans.attributes import bucket
from rtrace_otel.spans.links import OtherRuns, link_to
from rtrace_otel.spans.model import FinishedSpan, RunResource, SpanLink, resource_of
from rtrace_otel.spans.open import OpenSpan, time_ns
from rtrace_otel.spans.phases import ENDS, STARTS, Past, Phases
from rtrace_otel.spans.redo import LatestAttempts
from rtrace_otel.spans.steps import finish_step
from rtrace_otel.spans.syncs import SyncLog, sync_facts

GROUP, ATTEMPT = "rollout.group", "rollout.attempt"
_FROM_DISPATCH: Final = ("prompt_id", "generation_index", "attempt_index", "instance")


class RunProjector:
    """Folds the rows of one run into finished spans.

    Args:
        run: The run.
        others: The runs before it.
    """

    def __init__(self, run: str, others: OtherRuns) -> None:
        """Begin with nothing open."""
        self.run = run
        self.resource = RunResource(run, "rtrace", None, None, {})
        self.is_child = False
        self.ended = False
        self.last_ns = 0
        self.groups: dict[str, OpenSpan] = {}
        self.attempts: dict[str, OpenSpan] = {}
        self._others = others
        self._origin: dict[str, str] = {}
        self._restored_from: str | None = None
        self._past = Past()
        self._phases = Phases(run, self._past)
        self.latest = LatestAttempts()
        self._syncs = SyncLog()
        self._handlers: dict[str, Callable[[Row], Iterator[FinishedSpan]]] = {
            "run_started": self._run_started,
            "run_ended": lambda row: self.end_all(f"run ended: {row.get('reason')}"),
            "group_reserved": self._open_group,
            "group_discarded": self._discard,
            "attempt_dispatched": self._dispatch,
            "attempt_resumed": self._resume,
            "attempt_sealed": self._end_attempt,
            "attempt_abandoned": self._end_attempt,
            "spans_delivered": lambda _: iter(()),
            **dict.fromkeys(STARTS, self._start_phase),
            **dict.fromkeys(ENDS, self._end_phase),
        }

    def add(self, row: Row) -> Iterator[FinishedSpan]:
        """Take the next row of the run; gives the spans that it ends."""
        if self.ended:  # its spans have ended with it; a row that is late opens no second ones
            return iter(())
        self.last_ns = max(self.last_ns, time_ns(row))
        return self._handlers.get(row["event"], self._mark)(row)

    def end_all(self, reason: str) -> Iterator[FinishedSpan]:
        """End what is open where the run was last known to live: it was killed, or it ended without ending them."""
        self.ended = True
        for span in (*self.attempts.values(), *self.groups.values(), *self._phases.open.values()):
            yield self._truncated(span, reason)

    def _run_started(self, row: Row) -> Iterator[FinishedSpan]:
        self.resource = resource_of(self.run, row)
        self.is_child = row.get("parent_run") is not None
        return iter(())

    def _open_group(self, row: Row) -> Iterator[FinishedSpan]:
        group_id = str(row.get("group_id"))
        origin = row.get("origin_run")
        if isinstance(origin, str):
            self._origin[group_id] = origin
        if group_id in self.groups:
            self.groups[group_id].add(row)
        else:
            self._new_group(group_id, row)
        return iter(())

    def _new_group(self, group_id: str, row: Row) -> OpenSpan:
        origin = self._origin.get(group_id, self.run)
        again = self._past.times(GROUP, group_id)
        span_id = ids.group_span_id(self.run, group_id, again)
        group = OpenSpan(self.run, GROUP, ids.group_trace_id(origin, group_id), span_id, None, row)
        group.group_id = group_id
        group.facts["attempts"] = 0
        for name in ("prompt_id", "generations", "epoch", "weight_version"):
            group.facts[name] = row.get(name)
        if origin != self.run:
            earlier = ids.group_span_id(origin, group_id)
            group.link(SpanLink(group.trace_id, earlier, {"rtrace.link": "restored", "rtrace.run_id": origin}))
        self.groups[group_id] = group
        return group

    def _group_of(self, row: Row) -> OpenSpan | None:
        """The open group that a row names; opened now if its reservation is not in the file."""
        group_id = row.get("group_id")
        if group_id is None:
            return None
        group = self.groups.get(str(group_id))
        if group is None and not self._past.times(GROUP, str(group_id)):
            group = self._new_group(str(group_id), row)
        return group

    def _discard(self, row: Row) -> Iterator[FinishedSpan]:
        group = self._group_of(row)
        if group is not None:
            if group.last_event != "group_discarded":
                group.add(row, last=True)
            group.facts.update(outcome="discarded", reason=row.get("reason"))
            yield self._ended_group(group, time_ns(row), str(row.get("reason")))

    def _ended_group(self, group: OpenSpan, end_ns: int, error: str | None) -> FinishedSpan:
        group_id = str(group.group_id)
        self.groups.pop(group_id, None)
        self._past.remember(GROUP, group_id)
        self.latest.ended(group_id)
        return group.finish(end_ns, error)

    def _dispatch(self, row: Row) -> Iterator[FinishedSpan]:
        attempt_id = str(row.get("attempt_id"))
        attempt = self.attempts.get(attempt_id)
        if attempt is not None:
            attempt.add(row)
        else:
            self._link_to_earlier(self._new_attempt(attempt_id, row), row)
        return iter(())

    def _resume(self, row: Row) -> Iterator[FinishedSpan]:
        if row.get("level") == "sibling":
            group = self._group_of(row)
            if group is not None:
                group.add(row)
            return iter(())
        attempt_id, before = str(row.get("attempt_id")), row.get("previous_attempt_id")
        earlier = self._earlier_attempt(str(before)) if before is not None else None
        if row.get("group_id") is None and earlier is not None:
            row = {**row, "group_id": earlier.group_id}
        attempt = self.attempts.get(attempt_id) or self._new_attempt(attempt_id, row)
        attempt.facts.update(resumed_level=row.get("level"), tokens_kept=row.get("tokens_kept"))
        if earlier is not None:
            attempt.link(link_to("resumed", earlier.trace_id, earlier.span_id, earlier.run))
        elif before is not None:
            here = self._past.times(ATTEMPT, str(before)) or self._restored_from is None
            run = self.run if here else str(self._restored_from)
            span_id = ids.attempt_span_id(run, str(row.get("group_id")), str(before))
            attempt.link(link_to("resumed", attempt.trace_id, span_id, run))
        self._began(attempt, row)
        return iter(())

    def _earlier_attempt(self, attempt_id: str) -> OpenSpan | None:
        return self.attempts.get(attempt_id) or self._others.open_attempt(self.run, attempt_id)

    def _new_attempt(self, attempt_id: str, row: Row) -> OpenSpan:
        group = self._group_of(row)
        group_id = str(row.get("group_id"))
        if group is not None:
            trace_id, parent_id = group.trace_id, group.span_id
        else:
            trace_id, parent_id = self._ids_of_group(group_id)
        span_id = ids.attempt_span_id(self.run, group_id, attempt_id, self._past.times(ATTEMPT, attempt_id))
        known = row.get("group_id") is not None
        attempt = OpenSpan(self.run, ATTEMPT, trace_id, span_id, parent_id if known else None, row)
        attempt.attempt_id, attempt.group_id = attempt_id, group_id
        attempt.version = self._version(row)
        attempt.refits_before = self._syncs.count
        self.attempts[attempt_id] = attempt
        if group is not None:
            group.facts["attempts"] += 1
        return attempt

    def _link_to_earlier(self, attempt: OpenSpan, row: Row) -> None:
        """A dispatch that does again what an earlier attempt lost, in this run or in the one before."""
        group_id, generation = str(attempt.group_id), str(row.get("generation_index"))
        here = self.latest.unfinished(group_id, generation)
        before = self.redone_link(group_id, here) if here is not None else None
        before = before or self._others.redone(self.run, group_id, str(row.get("prompt_id")), generation)
        if before is not None:
            attempt.link(before)
        self._began(attempt, row)

    def _began(self, attempt: OpenSpan, row: Row) -> None:
        prompt_id = row.get("prompt_id")
        name = None if prompt_id is None else str(prompt_id)
        self.latest.begin(str(attempt.group_id), name, str(row.get("generation_index")), attempt.span_id)

    def redone_link(self, group_id: str, span_id: int) -> SpanLink:
        """A link to an attempt of this run that a later one does again."""
        return link_to("redone", self._ids_of_group(group_id)[0], span_id, self.run)

    def _end_attempt(self, row: Row) -> Iterator[FinishedSpan]:
        attempt_id = str(row.get("attempt_id"))
        attempt = self.attempts.pop(attempt_id, None)
        if attempt is None:
            return
        attempt.add(row, last=True)
        sealed = row["event"] == "attempt_sealed"
        attempt.facts.update(
            outcome="sealed" if sealed else "abandoned",
            reason=row.get("reason"),
            tokens=row.get("tokens"),
            reward=row.get("reward"),
            masked=row.get("masked"),
        )
        yield self._ended_attempt(attempt, time_ns(row), None if sealed else str(row.get("reason")))

    def _ended_attempt(self, attempt: OpenSpan, end_ns: int, error: str | None) -> FinishedSpan:
        self._past.remember(ATTEMPT, str(attempt.attempt_id))
        spanned = self._syncs.since(attempt.refits_before)
        for trace_id, span_id in spanned.recent:
            attempt.link(link_to("refit", trace_id, span_id, self.run))
        attempt.facts.update({name: attempt.opening(name) for name in _FROM_DISPATCH})
        attempt.facts.update(
            weight_version_start=attempt.version,
            dispatch_count=attempt.count("attempt_dispatched"),
            refusals=attempt.count("attempt_refused"),
            weight_version_end=self._syncs.version,
            refits_spanned=spanned.count,
            refits_bucket=bucket(spanned.count),
        )
        return attempt.finish(end_ns, error)

    def _start_phase(self, row: Row) -> Iterator[FinishedSpan]:
        if row["event"] == "checkpoint_started":
            self.latest.checkpoint_started()
        before = self._phases.start(row)
        if before is not None:
            yield self._truncated(before, "another one began")

    def _end_phase(self, row: Row) -> Iterator[FinishedSpan]:
        span = self._phases.end(row)
        if span.name == "train.step":
            yield from self._end_step(span, row)
            return
        if span.name == "weights.sync":
            span.facts.update(sync_facts(row))
            self._syncs.add(row, span.trace_id, span.span_id)
        elif span.name == "checkpoint.restore" and row.get("from_run") is not None:
            self._restored_from = str(row["from_run"])
        elif span.name == "checkpoint.publish":
            self.latest.checkpoint_published()
        yield span.finish(time_ns(row), None)

    def _end_step(self, step: OpenSpan, row: Row) -> Iterator[FinishedSpan]:
        named = row.get("group_ids")
        group_ids = [str(group_id) for group_id in named] if isinstance(named, list) else []
        groups = [self.groups.get(group_id) for group_id in group_ids]
        links = [
            (group_id, group.trace_id, group.span_id)
            if group is not None
            else (group_id, *self._ids_of_group(group_id))
            for group_id, group in zip(group_ids, groups, strict=True)
        ]
        known = [group for group in groups if group is not None]
        step_spans = list(finish_step(step, row, links, known))
        for group in dict.fromkeys(known):
            group.facts.update(outcome="trained", step=row.get("step"), trained_version=row.get("trained_version"))
            yield self._ended_group(group, time_ns(row), None)
        yield from step_spans

    def _mark(self, row: Row) -> Iterator[FinishedSpan]:
        """An event within a span: of an attempt, else of a group, else a moment of its own."""
        attempt = self.attempts.get(str(row["attempt_id"])) if row.get("attempt_id") is not None else None
        span = attempt if attempt is not None else self._group_of(row)
        if span is not None:
            span.add(row)
        elif "group_id" not in row and "attempt_id" not in row:
            yield self._phases.moment(row).finish(
                time_ns(row), str(row.get("reason")) if row["event"] == "trace_gap" else None
            )

    def _truncated(self, span: OpenSpan, reason: str) -> FinishedSpan:
        span.facts.update(truncated=True, outcome="interrupted", reason=reason)
        span.facts["waiting_for"] = span.waiting_for
        if span.name == GROUP:
            self._past.remember(GROUP, str(span.group_id))
        if span.name == ATTEMPT:
            return self._ended_attempt(span, self.last_ns, reason)
        return span.finish(self.last_ns, reason)

    def _ids_of_group(self, group_id: str) -> tuple[int, int]:
        """Trace and span of a group that is not open, as they were when it was."""
        origin = self._origin.get(group_id, self.run)
        return ids.group_trace_id(origin, group_id), ids.group_span_id(self.run, group_id)

    def _version(self, row: Row) -> Any:
        version = row.get("weight_version")
        return version if version is not None else self._syncs.version
