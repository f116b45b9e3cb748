"""Which live places of a seed are still in a case after its mutations: a session fills them in.

A change moves what stands behind it, so a place is looked for where it stood and as far from the end as
it stood; it is there if its bytes are. Seeds of sessions have stand-ins that nothing else looks like.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

import crc32c

from barnabas.fuzz.cases.case import Change, Live
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.sessions.live import TOKENS, live_name
from barnabas.fuzz.sessions.registry import is_bare
from barnabas.specs.keys import SASL_AUTHENTICATE

_ID: Final = {"request": 8, "response": 4}
"""Where the correlation id stands in a chunk."""

_ONE: Final = {way: (Live(0, at, 4, "correlation_id"),) for way, at in _ID.items()}
_SIZE: Final = 4
"""Bytes of the size in front of a frame."""


def live_places(
    chart: FieldMap, changes: Sequence[Change], chunks: tuple[bytes, ...], session: str
) -> tuple[Live, ...]:
    """The places, in the order of the chunks; a checksum comes behind what it covers.

    chart: of the seed. Without a session there is only the correlation id.
    """
    way = chart.seed.direction
    if session and is_bare(session):
        return ()
    if not session and len(chunks) == 1 and len(changes) == 1:
        if changes[0].path == "header.correlation_id" or len(chunks[0]) < _ID[way] + 4:
            return ()
        return _ONE[way]
    touched = [change.path for change in changes]
    found: list[Live] = []
    for number, chunk in enumerate(chunks):
        if _has_id(chart, chunk) and "header.correlation_id" not in touched:
            found.append(Live(number, _ID[way], 4, "correlation_id"))
        if session:
            found += _in_chunk(chart, touched, number, chunk)
        if chart.seed.key == SASL_AUTHENTICATE:
            found += _in_token(number, chunk)
    return tuple(found)


def _has_id(chart: FieldMap, chunk: bytes) -> bool:
    """Whether a chunk is this message, and not another one beside it: it begins as it does."""
    at = _ID[chart.seed.direction]
    if chart.seed.direction == "request":  # the API and its version, or one of them was changed
        return len(chunk) >= at + 4 and chunk[at : at + 4] == chart.seed.frame[at - 4 : at]
    return len(chunk) >= at + 4 and chunk[at : at + 4] == chart.seed.frame[:4]


def _in_chunk(chart: FieldMap, touched: Sequence[str], number: int, chunk: bytes) -> Iterator[Live]:
    frame = chart.seed.frame
    moved = len(chunk) - _SIZE - len(frame)
    changed = min((chart.parts[chart.index.get(path, 0)].start for path in touched), default=0)
    checksums: set[Part] = set()
    free = _SIZE  # places do not overlap
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
    """Whether the checksum of a batch of magic 2 stands here, and is right: a wrong one is to stay."""
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
    """The fields that sessions know a value of."""
    return tuple(
        part
        for part in chart.parts
        if part.end > part.start
        and live_name(part.path)
        and (part.coding or part.kind in ("string", "uuid"))
    )
