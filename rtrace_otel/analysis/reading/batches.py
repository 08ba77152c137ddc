"""A file in batches of whole lines: one read for some hundred rows instead of a call for each."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""A longer line is read in pieces of this size: a file system can leave gigabytes of NUL without a newline."""

BATCH_BYTES: Final = 1 << 17
"""Asked for at once: what fits into a processor's cache is fastest."""

LONG_LINE: Final = 1 << 14
LONG_BLOCK: Final = 2
"""So many times as much is asked for where lines are longer than that on average: they need fewer joins then."""

_Piece: TypeAlias = bytes | memoryview


def batches(read: Callable[[int], bytes]) -> Iterator[tuple[list[bytes], int]]:
    """The lines of a file, many at a time.

    Args:
        read: Gives at most so many bytes, and none at the end; a pipe may give fewer.

    Yields:
        Lines with their newlines, and how many bytes they are. The last line may lack its newline; one that is longer
        than ``MAX_LINE_BYTES`` comes in pieces of that size, as from ``open_lines``.
    """
    held: list[_Piece] = []
    size, wanted = 0, BATCH_BYTES
    while block := read(wanted) or (read(wanted) if size else b""):  # a torn line may have grown meanwhile
        given = size + len(block)
        if given >= MAX_LINE_BYTES:
            lines, rest = _cut(b"".join(held) + block)
            held, size = [rest], len(rest)
        elif wanted > BATCH_BYTES:
            lines, held = _few_lines(block, held)
            size = sum(map(len, held)) if lines else given
        else:
            lines, held = _many_lines(block, held)
            size = sum(map(len, held)) if lines else given
        if lines:
            yield lines, given - size
        long = len(block) > LONG_LINE * (len(lines) + 1)
        if long and wanted == BATCH_BYTES:
            _keep_what_is_freed()
        wanted = BATCH_BYTES * (LONG_BLOCK if long else 1)
    if size:
        yield [b"".join(held)], size


def _keep_what_is_freed() -> None:
    """Have glibc use the memory of a block for the next one, instead of giving it back to the system in between.

    It does so with pieces smaller than the largest one that was freed; this one is never touched, and costs nothing.
    """
    bytes(1 << 20)


def _many_lines(block: bytes, held: list[_Piece]) -> tuple[list[bytes], list[_Piece]]:
    """The lines that end in a block, the first of which began with pieces before it, and the pieces after them."""
    lines = io.BytesIO(block).readlines()
    if held and lines[0].endswith(b"\n"):
        lines[0] = b"".join((*held, lines[0]))
        held = []
    if not lines[-1].endswith(b"\n"):
        held.append(lines.pop())
    return lines, held


def _few_lines(block: bytes, held: list[_Piece]) -> tuple[list[bytes], list[_Piece]]:
    """The same where lines are long: each byte is copied once."""
    lines: list[bytes] = []
    begin, view = 0, memoryview(block)
    while end := block.find(b"\n", begin) + 1:
        lines.append(b"".join((*held, view[begin:end])))
        held, begin = [], end
    if begin < len(block):
        held.append(view[begin:])
    return lines, held


def up_to(size: int, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Reads no more than so many bytes."""
    left = size

    def limited(wanted: int) -> bytes:
        nonlocal left
        data = read(min(wanted, left)) if left else b""
        left -= len(data)
        return data

    return limited


def _cut(data: bytes) -> tuple[list[bytes], bytes]:
    """Whole lines and full pieces of one that is too long, and what is left."""
    stream = io.BytesIO(data)
    lines: list[bytes] = []
    while line := stream.readline(MAX_LINE_BYTES):
        if not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
            return lines, line
        lines.append(line)
    return lines, b""
