"""A screen of a given size: what of a report fits on it, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtrace_otel.report.cells import cells, clipped, padded

Tone: TypeAlias = Literal["plain", "title", "heading", "finding", "faint"]

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the screen.

    Attributes:
        text: What stands there; never wider than the screen.
        tone: What it is, for those who colour.
    """

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Section:
    """Lines that belong together.

    Attributes:
        rank: What to leave out first where the screen is too low: the highest; 0 comes first of all.
        least: Fewest lines that are of use.
        most: Lines if there is room.
        draw: Gives so many lines.
        apart: Whether to keep a blank line above it, if there is room.
    """

    rank: int
    least: int
    most: int
    draw: Callable[[int], Sequence[Line]]
    apart: bool = False


def fitted(sections: Sequence[Section], height: int | None) -> list[Line]:
    """The sections that fit, in their order, each with as many lines as there is room for.

    Args:
        sections: From top to bottom.
        height: Lines of the screen; ``None`` where there is no edge.
    """
    wanted = [section for section in sections if section.most > 0]
    left = sum(section.most + section.apart for section in wanted) if height is None else height
    given: dict[int, int] = {}
    ranked = sorted(range(len(wanted)), key=lambda place: wanted[place].rank)
    for place in ranked:
        if wanted[place].least <= left:
            given[place] = wanted[place].least
            left -= wanted[place].least
    growing = [place for place in ranked if place in given and given[place] < wanted[place].most]
    while left and growing:
        for place in growing[:left]:
            given[place] += 1
            left -= 1
        growing = [place for place in growing if given[place] < wanted[place].most]
    lines: list[Line] = []
    for place in sorted(given):
        if wanted[place].apart and lines and left:
            lines.append(Line(""))
            left -= 1
        lines.extend(wanted[place].draw(given[place]))
    return lines


def joined(parts: Sequence[tuple[str, int]], width: int, separator: str = ", ") -> str:
    """Parts in one line; those of the highest rank are left out until the rest fits.

    Args:
        parts: Text and rank; 0 stays.
        width: Columns of the screen.
        separator: Between two parts.
    """
    kept = list(parts)
    while len(kept) > 1 and cells(separator.join(text for text, _ in kept)) > width:
        least = max(reversed(range(len(kept))), key=lambda place: kept[place][1])
        if kept[least][1] == 0:
            break
        del kept[least]
    return clipped(separator.join(text for text, _ in kept), width)


@dataclass(frozen=True, slots=True)
class Heading:
    """Of a column of a list.

    Attributes:
        title: What stands above it.
        rank: As for :class:`Section`.
        right: Whether its values stand at the right.
    """

    title: str
    rank: int = 0
    right: bool = False


def listing(headings: Sequence[Heading], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """Rows under headings, with the columns that fit.

    Args:
        headings: Of the columns, from left to right.
        rows: Cells of each row.
        width: Columns of the screen.
    """
    widths = [
        max([cells(heading.title), *(cells(row[place]) for row in rows)]) for place, heading in enumerate(headings)
    ]
    shown = [place for place in range(len(headings)) if headings[place].title == "" or any(row[place] for row in rows)]
    while len(shown) > 1 and sum(widths[place] + len(_GAP) for place in shown) - len(_GAP) > width:
        least = max(shown, key=lambda place: headings[place].rank)
        if headings[least].rank == 0:
            break
        shown.remove(least)

    def line(texts: Sequence[str]) -> str:
        aligned = [padded(texts[place], widths[place], right=headings[place].right) for place in shown]
        return clipped(_GAP.join(aligned).rstrip(), width)

    return [
        Line(line([heading.title for heading in headings]), "heading"),
        *(Line(line(row)) for row in rows),
    ]
