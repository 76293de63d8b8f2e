"""Structs in Thrift's compact protocol, in which the footer of a Parquet file is written, read and written.

A struct is a dict from the number of a field to its type and its value, whatever the field means: what is not
touched comes back as it was, fields of later versions of the format included. A list is the type of its
elements and the elements; a map the types of its keys and values and the pairs.
Source: "Thrift Compact protocol encoding" of the Apache Thrift specification.
"""

import struct
from typing import Any

from condmask.errors import ArgumentError

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
WIDTH = {DOUBLE: 8, UUID: 16, BYTE: 1}  # bytes of the types that are kept as bytes
DEEPEST = 64  # values in values: damaged bytes must not exhaust the stack

Struct = dict[int, tuple[int, Any]]


def read_struct(data: bytes) -> Struct:
    """The struct that begins with the first byte."""
    try:
        return _Reader(data).struct(0)
    except (IndexError, struct.error):
        raise ArgumentError("the footer ends too early") from None


def write_struct(fields: Struct) -> bytes:
    """A struct as bytes."""
    out = bytearray()
    _struct(fields, out)
    return bytes(out)


class _Reader:
    """A position in bytes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int) -> Struct:
        fields: Struct = {}
        last = 0
        while (head := self.byte()) != 0:
            kind = head & 15
            last = last + (head >> 4) if head >> 4 else self.signed()
            if last in fields:
                raise ArgumentError(f"the footer has field {last} twice")
            fields[last] = kind, None if kind in (TRUE, FALSE) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise ArgumentError("the footer is nested too deeply")
        if kind in (I16, I32, I64):
            return self.signed()
        if kind == BINARY:
            return self.bytes(self.unsigned())
        if kind in WIDTH:
            return self.bytes(WIDTH[kind])
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            head = self.byte()
            count, of = head >> 4, head & 15
            count = self.unsigned() if count == 15 else count
            return of, [self.element(of, depth + 1) for _ in range(count)]
        if kind == MAP:
            count = self.unsigned()
            kinds = divmod(self.byte(), 16) if count else (0, 0)
            return kinds, [tuple(self.element(of, depth + 1) for of in kinds) for _ in range(count)]
        raise ArgumentError(f"the footer has a field of unknown type {kind}")

    def element(self, kind: int, depth: int) -> Any:
        return self.byte() if kind in (TRUE, FALSE) else self.value(kind, depth)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - count : self.at]

    def unsigned(self) -> int:
        """Seven bits a byte, the lowest first."""
        number = shift = 0
        while (byte := self.byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def signed(self) -> int:
        """Whole numbers by size: 0, -1, 1, -2, ..."""
        number = self.unsigned()
        return number >> 1 ^ -(number & 1)


def _struct(fields: Struct, out: bytearray) -> None:
    last = 0
    for number, (kind, value) in sorted(fields.items()):
        if 0 < number - last < 16:
            out.append(number - last << 4 | kind)
        else:
            out.append(kind)
            _signed(number, out)
        last = number
        if kind not in (TRUE, FALSE):
            _value(kind, value, out)
    out.append(0)


def _value(kind: int, value: Any, out: bytearray) -> None:
    if kind in (I16, I32, I64):
        _signed(value, out)
    elif kind == BINARY:
        _unsigned(len(value), out)
        out += value
    elif kind in WIDTH:
        out += value
    elif kind == STRUCT:
        _struct(value, out)
    elif kind in (LIST, SET):
        of, elements = value
        out.append(min(len(elements), 15) << 4 | of)
        if len(elements) >= 15:
            _unsigned(len(elements), out)
        for element in elements:
            _element(of, element, out)
    else:
        kinds, pairs = value
        _unsigned(len(pairs), out)
        if pairs:
            out.append(kinds[0] << 4 | kinds[1])
        for pair in pairs:
            for of, element in zip(kinds, pair, strict=True):
                _element(of, element, out)


def _element(kind: int, value: Any, out: bytearray) -> None:
    if kind in (TRUE, FALSE):
        out.append(value)
    else:
        _value(kind, value, out)


def _unsigned(value: int, out: bytearray) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _signed(value: int, out: bytearray) -> None:
    _unsigned(value << 1 if value >= 0 else (-value << 1) - 1, out)
