"""Adds Parquet's annotation of a VARIANT to a file's footer, which pyarrow can't write.

The footer is a struct in Thrift's compact protocol, `FileMetaData` of parquet.thrift; its second field is the
list of the schema's elements. The footer is read up to the end of that list.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO, Final

_MAGIC: Final = b"PAR1"
_NAME: Final = 4
"""The field of a SchemaElement with its name."""
_LOGICAL_TYPE: Final = 10
"""The last field of a SchemaElement."""
_VARIANT: Final = bytes((0x0C, 0x20, 0x13, 0x01, 0, 0))
"""The union LogicalType: its field 16 is a VariantType with 1 in the field specification_version."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _STRUCT = 1, 2, 3, 7, 8, 9, 12
"""Types of the compact protocol; the others here are numbers of varying length."""


def annotate(file: BinaryIO, column: str) -> None:
    """Annotate a top-level column of a Parquet file as VARIANT. Raises OSError.

    The file is open for reading and writing, and has no such annotation yet.
    """
    end = file.seek(0, os.SEEK_END)
    file.seek(end - 8)
    size = int.from_bytes(file.read(4), "little")
    file.seek(end - 8 - size)
    footer = annotated(file.read(size), column)
    file.seek(end - 8 - size)
    file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)


def annotated(footer: bytes, column: str) -> bytes:
    """Return the footer with the annotation."""
    for name, last, stop in _elements(_Reader(footer)):
        if name == column.encode():
            head = bytes(((_LOGICAL_TYPE - last) << 4 | _STRUCT,))
            return footer[:stop] + head + _VARIANT + footer[stop:]
    raise AssertionError(f"no column {column}")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        """Read an unsigned varint."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def binary(self) -> bytes:
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at]

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and type of each field of a struct.

        The caller reads a field's value before the next one. At the end the reader is at the byte that ends
        the struct.
        """
        number = 0
        while head := self.data[self.at]:
            self.at += 1
            delta = head >> 4
            number = number + delta if delta else self.number() >> 1
            yield number, head & 0x0F

    def skip(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self.at += 1
        elif kind == _DOUBLE:
            self.at += 8
        elif kind == _BINARY:
            self.binary()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
            self.at += 1
        else:
            self.number()

    def items(self) -> int:
        """Read the length of a list."""
        head = self.data[self.at]
        self.at += 1
        return self.number() if head >> 4 == 15 else head >> 4


def _elements(reader: _Reader) -> Iterator[tuple[bytes, int, int]]:
    """Yield each schema element's name, the number of its last field, and the offset of its last byte."""
    for number, kind in reader.fields():
        if number != 2 or kind != _LIST:
            reader.skip(kind)
            continue
        for _ in range(reader.items()):
            name, last = b"", 0
            for field, inner in reader.fields():
                last = field
                if field == _NAME:
                    name = reader.binary()
                else:
                    reader.skip(inner)
            yield name, last, reader.at
            reader.at += 1
        return
