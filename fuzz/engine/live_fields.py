"""The live fields of a seed that are still in a case after its mutations; a session fills them in.

A change moves the bytes that follow it. A field is therefore searched at its offset from the start and at its
offset from the end, and counts as present if its bytes are there. Seeds of sessions have stand-ins, which no
other bytes look like.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

import crc32c

from barnabas.fuzz.cases.case import Change, Live
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.sessions.live_values import TOKENS, live_name
from barnabas.fuzz.sessions.registry import is_bare
from barnabas.specs.keys import SASL_AUTHENTICATE

_ID: Final = {"request": 8, "response": 4}
"""The offset of the correlation id in a chunk."""

_CORRELATION_ID: Final = {
    direction: (Live(0, at, 4, "correlation_id"),) for direction, at in _ID.items()
}
_SIZE: Final = 4
"""Bytes of the size before a frame."""


def live_places(
    chart: FieldMap, changes: Sequence[Change], chunks: tuple[bytes, ...], session: str
) -> tuple[Live, ...]:
    """Return the live fields in the order of the chunks; a checksum follows what it covers.

    Without a session there is only the correlation id. chart: the map of the seed.
    """
    direction = chart.seed.direction
    if session and is_bare(session):
        return ()
    if not session and len(chunks) == 1 and len(changes) == 1:
        if changes[0].path == "header.correlation_id" or len(chunks[0]) < _ID[direction] + 4:
            return ()
        return _CORRELATION_ID[direction]
    touched = [change.path for change in changes]
    places: list[Live] = []
    for number, chunk in enumerate(chunks):
        if _has_id(chart, chunk) and "header.correlation_id" not in touched:
            places.append(Live(number, _ID[direction], 4, "correlation_id"))
        if session:
            places += _in_chunk(chart, touched, number, chunk)
        if chart.seed.key == SASL_AUTHENTICATE:
            places += _in_token(number, chunk)
    return tuple(places)


def _has_id(chart: FieldMap, chunk: bytes) -> bool:
    """Return whether a chunk begins as this message does, and is not another one next to it."""
    at = _ID[chart.seed.direction]
    if chart.seed.direction == "request":  # the API key and version come first, and may be changed
        return len(chunk) >= at + 4 and chunk[at : at + 4] == chart.seed.frame[at - 4 : at]
    return len(chunk) >= at + 4 and chunk[at : at + 4] == chart.seed.frame[:4]


def _in_chunk(chart: FieldMap, touched: Sequence[str], number: int, chunk: bytes) -> Iterator[Live]:
    frame = chart.seed.frame
    moved = len(chunk) - _SIZE - len(frame)
    changed = min((chart.parts[chart.index.get(path, 0)].start for path in touched), default=0)
    checksums: set[Part] = set()
    free = _SIZE  # live fields do not overlap
    for part in _candidates(chart):
        if part.path in touched:
            continue
        size = part.end - part.start
        near, far = part.start, part.start + moved
        for at in (far, near) if part.start >= changed else (near, far):
            begin = _SIZE + at
            if begin >= free and chunk[begin : begin + size] == frame[part.start : part.end]:
                free = begin + size
                yield Live(number, begin, size, live_name(part.path))
                checksums.update(
                    chart.parts[index] for index in part.around if chart.parts[index].kind == "crc"
                )
                break
    for checksum in sorted(checksums, key=lambda part: part.start):
        for at in (checksum.start, checksum.start + moved):
            if _fits(chunk, _SIZE + at):
                yield Live(number, _SIZE + at, 4, "crc")
                break


def _in_token(number: int, chunk: bytes) -> Iterator[Live]:
    for name, stand_in in TOKENS:
        at = chunk.find(stand_in)
        if at >= 0:
            yield Live(number, at, len(stand_in), name)


def _fits(chunk: bytes, at: int) -> bool:
    """Return whether a batch of magic 2 has a correct checksum here: a wrong one must stay."""
    start = at - 17
    if start < _SIZE or at + 4 > len(chunk) or chunk[at - 1] != 2:
        return False
    end = start + 12 + int.from_bytes(chunk[start + 8 : start + 12], "big", signed=True)
    if not at + 4 < end <= len(chunk):
        return False
    crc: int = crc32c.crc32c(chunk[at + 4 : end])
    return int.from_bytes(chunk[at : at + 4], "big") == crc


@functools.lru_cache(maxsize=4096)
def _candidates(chart: FieldMap) -> tuple[Part, ...]:
    """Return the fields that sessions know values of."""
    return tuple(
        part
        for part in chart.parts
        if part.end > part.start
        and live_name(part.path)
        and (part.coding or part.kind in ("string", "uuid"))
    )
