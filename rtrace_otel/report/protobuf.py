"""The wire format of Protocol Buffers, as far as a trace file needs it.

Encoding: https://protobuf.dev/programming-guides/encoding. A handful of messages is written, so generated code and the
library behind it would be a dependency for little.
"""

from __future__ import annotations

import struct
from typing import Final

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_DOUBLE: Final = struct.Struct("<d")
_UINT64: Final = struct.Struct("<Q")
_64_BITS: Final = (1 << 64) - 1


_MANY: Final = 1 << 14
_SMALL: Final = tuple(bytes([n]) if n < 0x80 else bytes([n & 0x7F | 0x80, n >> 7]) for n in range(_MANY))
"""The numbers of one and two bytes: tags, lengths and most values are among them."""


def varint(value: int) -> bytes:
    """A whole number in base 128; a negative one as its two's complement of 64 bits."""
    if 0 <= value < _MANY:
        return _SMALL[value]
    value &= _64_BITS
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def integer(field: int, value: int) -> bytes:
    """A field of type int32, int64, uint32, uint64, bool or enum."""
    return varint(field << 3 | _VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """A field of type double."""
    return varint(field << 3 | _FIXED64) + _DOUBLE.pack(value)


def fixed64(field: int, value: int) -> bytes:
    """A field of type fixed64."""
    return varint(field << 3 | _FIXED64) + _UINT64.pack(value & _64_BITS)


def text(field: int, value: str) -> bytes:
    """A field of type string; what UTF-8 cannot hold becomes a question mark."""
    return message(field, value.encode("utf-8", "replace"))


def message(field: int, value: bytes) -> bytes:
    """A field that holds another message."""
    return varint(field << 3 | _BYTES) + varint(len(value)) + value
