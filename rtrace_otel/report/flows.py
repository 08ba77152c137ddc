"""Which attempts a training step was trained on, as the arrows of a trace viewer."""

from __future__ import annotations

from rtrace_otel.spans.model import FinishedSpan


class Flows:
    """Gives each span the numbers of the arrows that touch it.

    An attempt ends before anybody knows which step will train its group, so each one begins an arrow; viewers draw
    those that arrive. Memory holds the sealed attempts of the groups that are open.

    Args:
        step: The step at which arrows arrive; ``None`` for no arrows at all.
    """

    def __init__(self, step: int | None) -> None:
        """Begin with no span seen."""
        self._step = step
        self._sealed: dict[str, list[int]] = {}
        self._arriving: list[int] = []

    def of(self, span: FinishedSpan) -> list[int]:
        """Numbers of the arrows that begin or arrive at a span; spans come in the order in which they ended."""
        if self._step is None:
            return []
        if span.name == "rollout.attempt":
            return self._attempt(span)
        if span.name == "rollout.group":
            self._group(span)
        elif span.name == "train.step":
            arriving, self._arriving = self._arriving, []
            return arriving if span.attributes.get("rtrace.step") == self._step else []
        return []

    def _attempt(self, span: FinishedSpan) -> list[int]:
        if span.attributes.get("rtrace.outcome") != "sealed":
            return []
        self._sealed.setdefault(str(span.attributes.get("rtrace.group_id")), []).append(span.span_id)
        return [span.span_id]

    def _group(self, span: FinishedSpan) -> None:
        """A group of a killed run may be trained by a later one; the end of any other is final."""
        if span.attributes.get("rtrace.truncated"):
            return
        sealed = self._sealed.pop(str(span.attributes.get("rtrace.group_id")), [])
        if span.attributes.get("rtrace.step") == self._step:
            self._arriving += sealed
