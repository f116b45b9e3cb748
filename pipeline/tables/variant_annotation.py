"""Adds Parquet's annotation of a VARIANT to a file's footer, which pyarrow can't write.

The footer is a struct in Thrift's compact protocol, `FileMetaData` of parquet.thrift. The schema's elements
are near its beginning, before all that depends on the rows.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Final

_MAGIC: Final = b"PAR1"
_OPTIONAL: Final = b"\x35\x02\x18"
"""An element's field 3, repetition type, and the head of field 4, its name."""
_TWO_CHILDREN: Final = b"\x15\x04"
"""Field 5, the number of children."""
_VARIANT: Final = b"\x5c\x0c\x20\x13\x01\0\0"
"""Field 10, the union LogicalType: its field 16 is a VariantType of specification_version 1."""


def annotate(file: BinaryIO, column: str) -> None:
    """Annotate an optional top-level column of two fields in a Parquet file as VARIANT. Raises OSError.

    The file is open for reading and writing, and has no such annotation yet. If its footer has another form
    than pyarrow 26 writes, the file stays as it is: Spark knows the column by the schema in the metadata.
    """
    end = file.seek(0, os.SEEK_END)
    file.seek(end - 8)
    size = int.from_bytes(file.read(4), "little")
    file.seek(end - 8 - size)
    name = column.encode()
    element = _OPTIONAL + bytes([len(name)]) + name + _TWO_CHILDREN
    footer = file.read(size).replace(element, element + _VARIANT, 1)
    file.seek(end - 8 - size)
    file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)
