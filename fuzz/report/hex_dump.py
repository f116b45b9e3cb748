"""Bytes in rows of 16, with a place marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.report.message import Place
from barnabas.plural import plural

ROW: Final = 16

BYTES: Final = 512
"""Of a chunk that are shown."""

HEAD: Final = 64
"""Of them from its beginning, where the place is far behind."""


def dump(chunk: bytes, place: Place | None = None) -> Iterator[str]:
    """The rows of a chunk; of a long one those around the place, and how many bytes are left out.

    >>> print("\\n".join(dump(b"abc\\0", Place(1, 3))))
    0000  61 62 63 00                                      abc.
             ^^ ^^
    """
    first = 0 if place is None or place.start < BYTES - 2 * ROW else place.start - BYTES // 2
    first -= first % ROW
    if first:
        yield from _rows(chunk, 0, HEAD, None)
        yield f"... {plural(first - HEAD, 'byte')}"
    end = first + BYTES - (HEAD if first else 0)
    yield from _rows(chunk, first, end, place)
    if end < len(chunk):
        yield f"... {plural(len(chunk) - end, 'more byte')}"


def _rows(chunk: bytes, start: int, end: int, place: Place | None) -> Iterator[str]:
    for at in range(start, min(end, len(chunk)), ROW):
        row = chunk[at : at + ROW]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{at:04x}  {row.hex(' '):<47}  {shown}"
        if place is not None:
            # what is empty now, or behind the end, is shown where it would stand
            last = max(place.end, place.start + 1)
            marks = ["^^" if place.start <= one < last else "  " for one in range(at, at + ROW)]
            if place.start == len(chunk) == at + ROW:
                marks.append("^^")
            line = f"      {' '.join(marks)}".rstrip()
            if line:
                yield line
