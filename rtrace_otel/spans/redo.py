"""The latest attempt of each generation, for as long as a restore can lose it and a later run do it again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_ENDED: Final = 4096
"""Groups remembered that ended since the last checkpoint, the latest ones."""


@dataclass(slots=True)
class _Attempts:
    prompt_id: str | None
    span_ids: dict[str, int] = field(default_factory=dict)


class LatestAttempts:
    """Span ids of one run's latest attempts, by group and generation.

    A group that was trained or discarded is remembered until a checkpoint holds that: a stop before loses it.
    """

    __slots__ = ("_ended", "_open", "_saved")

    def __init__(self) -> None:
        """Begin with none."""
        self._open: dict[str, _Attempts] = {}
        # Ordered: it loses its oldest again and again, which a dict looks for behind all that it lost before.
        self._ended: OrderedDict[str, _Attempts] = OrderedDict()
        self._saved: list[str] | None = None

    def begin(self, group_id: str, prompt_id: str | None, generation: str, span_id: int) -> None:
        """An attempt began."""
        group = self._open.get(group_id)
        if group is None:
            group = self._open[group_id] = _Attempts(prompt_id)
        group.span_ids[generation] = span_id

    def ended(self, group_id: str) -> None:
        """A group was trained or discarded."""
        group = self._open.pop(group_id, None)
        if group is not None:
            self._ended[group_id] = group
            if len(self._ended) > MAX_ENDED:
                self._ended.popitem(last=False)

    def checkpoint_started(self) -> None:
        """A checkpoint is being taken: it holds what has ended by now."""
        self._saved = list(self._ended)

    def checkpoint_published(self) -> None:
        """The checkpoint is complete: what it holds cannot be lost any more."""
        for group_id in self._ended.copy() if self._saved is None else self._saved:
            self._ended.pop(group_id, None)
        self._saved = None

    def unfinished(self, group_id: str, generation: str) -> int | None:
        """The latest attempt of a group that was neither trained nor discarded."""
        group = self._open.get(group_id)
        return group.span_ids.get(generation) if group is not None else None

    def lost(self, group_id: str, generation: str) -> int | None:
        """The same for another run, which may also do again what ended since the last checkpoint."""
        found = self.unfinished(group_id, generation)
        group = self._ended.get(group_id)
        return group.span_ids.get(generation) if found is None and group is not None else found

    def lost_by_prompt(self) -> Iterator[tuple[str, str, str, int]]:
        """All of these with a known prompt: prompt id, generation, group id, span id."""
        for groups in (self._ended, self._open):
            for group_id, group in groups.items():
                if group.prompt_id is not None:
                    for generation, span_id in group.span_ids.items():
                        yield group.prompt_id, generation, group_id, span_id
