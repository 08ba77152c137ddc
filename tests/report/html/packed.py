"""Reads in Python what the page reads in the browser."""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
import re
import struct
from typing import Any, TypeAlias

Values: TypeAlias = list[Any]


def unpacked_json(text: str) -> Any:
    """A packed JSON value."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def unpacked(text: str) -> dict[str, Values]:
    """A packed table by column; unknown numbers are ``None``."""
    data = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    offset, columns = 4 + length, {}
    for column in header["columns"]:
        width, rows = column["width"], header["rows"]
        planes = [data[offset + plane * rows : offset + (plane + 1) * rows] for plane in range(width)]
        cells = [bytes(plane[row] for plane in planes) for row in range(rows)]
        columns[column["name"]] = [_value(column, cell) for cell in cells]
        offset += width * rows
    assert offset == len(data)
    return columns


def _value(column: dict[str, Any], cell: bytes) -> Any:
    if column["kind"] == "floats":
        (value,) = struct.unpack("<d", cell)
        return None if math.isnan(value) else value
    stored = int.from_bytes(cell, "little")
    if stored == 0:
        return None
    return column["texts"][stored - 1] if column["kind"] == "texts" else (column["base"] + stored - 1) * column["unit"]


def carried(page: str) -> tuple[Any, Any, dict[str, dict[str, Values]]]:
    """The head, the document and the tables of a page."""
    (head,) = re.findall(r'<script type="application/json" id="rtrace-head">(.*?)</script>', page, re.DOTALL)
    (document,) = re.findall(r'<script type="text/plain" id="rtrace-document">(.*?)</script>', page, re.DOTALL)
    tables = re.findall(r'<script type="text/plain" data-table="(.*?)">(.*?)</script>', page, re.DOTALL)
    named = {html.unescape(name): unpacked(text) for name, text in tables}
    return json.loads(head), unpacked_json(document), named
