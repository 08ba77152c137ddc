"""A page's data in pieces, so that a page that follows a file is sent those that changed, not the whole.

Rows that a file adds are mostly at the end of tables and lists. Each table and each long list is cut into pieces of a
fixed length; a piece whose rows stayed as they were is packed into the same text, and need not be sent again.
``assets/pieces.js`` puts them together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rtrace_otel.report.html.columns import Columns, pack, pack_json

ROWS: Final = 500
"""Rows of a table in one piece."""

ITEMS: Final = 100
"""Items of a long list in one piece."""

_OF_ITS_OWN: Final = 1_000
"""A result or a section with more letters than that is a piece of its own."""

_SECTIONS: Final = ("results", "texts")


def table_pieces(tables: Mapping[str, Columns]) -> Iterator[tuple[str, str]]:
    """The pieces of tables: ``NAME#0``, ``NAME#1``, ..., each packed like a table; of one without rows there is one."""
    for name, columns in tables.items():
        rows = max((column.rows for column in columns.values()), default=0)
        for place, start in enumerate(range(0, max(rows, 1), ROWS)):
            some = slice(start, start + ROWS)
            yield f"{name}#{place}", pack({title: column.part(some) for title, column in columns.items()})


def document_pieces(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A document without what was cut out of it, and the pieces, packed.

    Args:
        document: JSON values by name.

    Returns:
        ``{"value": the rest, "cuts": [[path, number of pieces], ...]}``, where a path is the names and places that lead
        there, outer ones first, and the number is ``None`` where the piece is the value itself. The pieces are named
        ``document`` and the path as JSON, and ``#0``, ``#1``, ... for those of a list.
    """
    cutter = _Cutter()
    value = cutter.without_cuts(dict(document), ())
    return {"value": value, "cuts": sorted(cutter.cuts, key=lambda cut: len(cut[0]))}, cutter.pieces


class _Cutter:
    """Cuts a document up, from the inside out."""

    def __init__(self) -> None:
        self.cuts: list[tuple[list[str | int], int | None]] = []
        self.pieces: dict[str, str] = {}

    def without_cuts(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if isinstance(value, dict):
            rest: Any = {name: self.without_cuts(item, (*path, name)) for name, item in value.items()}
            return self._of_its_own(rest, path)
        if not isinstance(value, list):
            return value
        if len(value) <= ITEMS:
            return self._of_its_own([self.without_cuts(item, (*path, place)) for place, item in enumerate(value)], path)
        starts = range(0, len(value), ITEMS)
        for place, start in enumerate(starts):
            self.pieces[f"{_named(path)}#{place}"] = pack_json(value[start : start + ITEMS])
        self.cuts.append(([*path], len(starts)))
        return None

    def _of_its_own(self, value: Any, path: tuple[str | int, ...]) -> Any:
        alone = len(path) == (2 if path and path[0] in _SECTIONS else 1)
        if not alone or len(json.dumps(value)) <= _OF_ITS_OWN:
            return value
        self.pieces[_named(path)] = pack_json(value)
        self.cuts.append(([*path], None))
        return None


def _named(path: tuple[str | int, ...]) -> str:
    return f"document{json.dumps(path, separators=(',', ':'))}"
