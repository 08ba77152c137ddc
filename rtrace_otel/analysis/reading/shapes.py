"""Rows decoded no further than a question needs: msgspec structs instead of dicts, where a row has the expected types.

A struct stands only for a row that the exact way to read would give with the same values in these fields.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec


class Shape(msgspec.Struct, gc=False, kw_only=True):
    """What every row has.

    Attributes:
        t: Time; its type is all that matters here.
        run: The run.
        seq: Number of the row in its run.
        resourceSpans: Never there: a line with it is OTLP JSON.
    """

    t: float
    run: str
    seq: int
    resourceSpans: Annotated[int, msgspec.Meta(gt=1, lt=0)] = 0  # noqa: N815 - the key in the file


def decoder_of(*shapes: type[Shape]) -> msgspec.json.Decoder[Any]:
    """A decoder of lines.

    Args:
        shapes: Structs with ``tag_field="event"``.
    """
    union: Any = shapes[0]
    for shape in shapes[1:]:
        union |= shape
    return msgspec.json.Decoder(union)
