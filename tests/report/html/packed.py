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


def put_together(
    head: dict[str, Any], document: Any, parts: dict[str, str]
) -> tuple[Any, dict[str, dict[str, Values]]]:
    """The document and the tables of a page in pieces, by the rules of ``assets/pieces.js``.

    Args:
        head: With the number of pieces of each table.
        document: What was not cut out of the document, and what was.
        parts: The packed pieces by name.
    """
    pieces = {name: [unpacked(parts[f"{name}#{place}"]) for place in range(n)] for name, n in head["pieces"].items()}
    before = 0
    for attempts, groups in zip(pieces["attempts"], pieces["attempt_groups"], strict=True):
        attempts["group"] = [group + before for group in attempts["group"]]
        before += len(groups["id"])
    tables = {name: {key: [v for one in some for v in one[key]] for key in some[0]} for name, some in pieces.items()}
    root: Any = {"document": document["value"]}
    for path, count in document["cuts"]:
        owner: Any = root["document"] if path else root
        for key in path[:-1]:
            owner = owner[key]
        name = f"document{json.dumps(path, separators=(',', ':'))}"
        whole = unpacked_json(parts[name]) if count is None else None
        lists = [unpacked_json(parts[f"{name}#{place}"]) for place in range(count or 0)]
        owner[path[-1] if path else "document"] = [item for one in lists for item in one] if count else whole
    return root["document"], tables


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
