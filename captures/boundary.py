"""Where a frame begins in the middle of a stream: behind a gap, or before the capture began.

A place holds if what is there reads as a frame, wholly and without anything odd: size, header, and a
body that ends where the size says. A request says what it is; a response answers one that waits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from captures.exchange import body_version
from specs.contents import NAMES, api
from specs.frames import Direction, Short, request_head, response_body
from specs.malformed import Malformed

LONGEST: Final = (1 << 24) - 1
"""Bytes of the largest frame by which a boundary is recognised; larger ones are passed over."""

_EFFORT: Final = 64 << 20
"""Bytes of frames that are tried in one call; more would take too long in hostile ones."""
_CLIENT_ID: Final = 512
"""Characters of a client id by which a request is recognised."""

_SIZE: Final = rb"\x00(?=(?:\x00\x00[\x04-\xff]|\x00[\x01-\xff].|[\x01-\xff]..)"
"""A size up to `LONGEST`; matches its first byte alone, so that candidates may overlap."""
_REQUEST: Final = re.compile(
    _SIZE + rb"\x00[\x00-%c]\x00[\x00-\x1f].{4}(?:[\x00-\x02].|\xff\xff))" % max(NAMES), re.DOTALL
)
_REQUEST_HEAD: Final = 14
_RESPONSE_HEAD: Final = 8

Buffer = bytes | bytearray


class Place(NamedTuple):
    """No frame begins before `offset`. If `found` one begins there; else more bytes must come."""

    offset: int
    found: bool


Seek = Callable[[Buffer], Place]


def next_request(data: Buffer) -> Place:
    """The first request in a stretch of bytes.

    >>> ask = bytes.fromhex("0000000f 0003 0001 00000007 0001 61 ffffffff")
    >>> next_request(b"the end of another" + ask)
    Place(offset=18, found=True)
    """
    return _first(data, _REQUEST, _REQUEST_HEAD, _is_request)


def next_response(data: Buffer, asked: Mapping[int, tuple[int, int]]) -> Place:
    """The first response to a request that waits; (key, version) of those by correlation id."""
    if not asked:
        return Place(max(0, len(data) - _RESPONSE_HEAD + 1), False)
    names = [(number & 0xFFFFFFFF).to_bytes(4) for number in (min(asked), max(asked))]
    same = 0
    while same < 4 and names[0][same] == names[1][same]:
        same += 1
    if min(asked) < 0 <= max(asked):
        same = 0

    def holds(data: Buffer, at: int, size: int) -> bool:
        what = asked.get(int.from_bytes(data[at : at + 4], signed=True))
        if what is None or what[0] not in NAMES or what[1] > api(what[0]).versions[1]:
            return False
        if len(data) < at + size:
            return True
        key, version = what
        frame = bytes(data[at : at + size])
        body = frame[response_body(frame, key, version) :]
        return _regular(key, body_version(key, version, "response", body), "response", body)

    return _first(data, _response(names[0][:same]), _RESPONSE_HEAD, holds)


@functools.lru_cache(256)
def _response(prefix: bytes) -> re.Pattern[bytes]:
    """Responses whose correlation ids all begin so."""
    rest = b".{%d})" % (4 - len(prefix))
    return re.compile(_SIZE + re.escape(prefix) + rest, re.DOTALL)


def _first(
    data: Buffer,
    pattern: re.Pattern[bytes],
    head: int,
    holds: Callable[[Buffer, int, int], bool],
) -> Place:
    effort = 0
    at = 0
    while effort < _EFFORT:
        match = pattern.search(data, at)
        if match is None:
            break
        at = match.start()
        del match  # it would keep the buffer from changing its size
        size = int.from_bytes(data[at : at + 4])
        try:
            if holds(data, at + 4, size):
                return Place(at, len(data) >= at + 4 + size)
        except Malformed:
            pass
        effort += min(size, len(data) - at)
        at += 1
    return Place(max(at, len(data) - head + 1, 0), False)


def _is_request(data: Buffer, at: int, size: int) -> bool:
    frame = bytes(data[at : at + size])
    try:
        head = request_head(frame, 0, len(frame))
    except Short:
        return len(frame) < size
    if head.key not in NAMES or head.version > api(head.key).versions[1]:
        return False
    name = head.client_id or ""
    if len(name) > _CLIENT_ID or not name.isprintable() or "\ufffd" in name:
        return False
    return len(frame) < size or _regular(head.key, head.version, "request", frame[head.body :])


def _regular(key: int, version: int, direction: Direction, body: bytes) -> bool:
    """Whether a body reads as one, with nothing odd and nothing behind it. Raises Malformed."""
    _, oddities = api(key).message(direction).codec(version).inspect(body)
    return not oddities
