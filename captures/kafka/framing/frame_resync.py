"""Find the next frame in the middle of a stream: after a gap, or where the capture begins.

An offset is accepted if the bytes there decode completely as a frame: size, header, and a body that ends
where the size says. A request names its API and version; a response must answer a request in flight.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import body_version
from barnabas.specs.frames import Direction, Short, request_head, response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

LONGEST: Final = (1 << 24) - 1
"""Bytes of the largest frame that is accepted as a boundary; larger frames are skipped."""

_EFFORT: Final = 64 << 20
"""Bytes of frames that one call decodes at most, since hostile data could take too long."""
_BEGUN: Final = 64
"""Offsets that are remembered until the frames that may begin there are whole."""
_CLIENT_ID: Final = 512
"""Bytes of the longest client id in an accepted request."""

_SIZE: Final = rb"\x00(?=(?:\x00\x00[\x04-\xff]|\x00[\x01-\xff].|[\x01-\xff]..)"
"""A frame size up to `LONGEST`; matches only its first byte, so that matches may overlap."""
_REQUEST: Final = re.compile(
    _SIZE + rb"\x00[\x00-%c]\x00[\x00-\x1f].{4}(?:[\x00-\x02].|\xff\xff))" % max(NAMES), re.DOTALL
)
_REQUEST_HEAD: Final = 14
_RESPONSE_HEAD: Final = 8

InFlight = Mapping[int, tuple[int, int]]
"""Key and version of the requests in flight, by correlation id."""


class SearchResult(NamedTuple):
    """The result of a search: no frame begins in `offset` bytes; if `begins`, a frame begins after them."""

    offset: int
    begins: bool


class FrameResync:
    """A search for a request, or for a response to one of the requests that `in_flight` returns.

    >>> ask = bytes.fromhex("0000000f 0003 0001 00000007 0001 61 ffffffff")
    >>> search = FrameResync()
    >>> search.feed(b"the end of another" + ask[:9]), search.feed(ask[9:])
    (SearchResult(offset=14, begins=False), SearchResult(offset=4, begins=True))
    """

    def __init__(self, in_flight: Callable[[], InFlight] | None = None) -> None:
        self._in_flight = in_flight
        self._head = _REQUEST_HEAD if in_flight is None else _RESPONSE_HEAD
        self.clear()

    def clear(self) -> None:
        """Forget all bytes: a gap follows them, or a frame was found."""
        self._data = bytearray()
        self._scanned = 0
        self._candidates: list[int] = []

    def feed(self, data: bytes) -> SearchResult:
        """Search the next bytes. Offsets count from the first byte that no earlier call has skipped."""
        self._data += data
        in_flight = None if self._in_flight is None else self._in_flight()
        pattern = _REQUEST if in_flight is None else _response(in_flight)
        begun, self._candidates = self._candidates, []
        effort = 0
        for at in chain(begun, self._offsets(pattern)):
            size = int.from_bytes(self._data[at : at + 4])
            whole = at + 4 + size <= len(self._data)
            effort += size if whole else 0
            looked_at = size if whole else _CLIENT_ID + _REQUEST_HEAD
            frame = self._data[at + 4 : at + 4 + looked_at]
            if effort > _EFFORT:
                self._candidates = []
                self._scanned = len(self._data)
                break
            if not _holds(bytes(frame), size, in_flight):
                continue
            if whole:
                self._pass_over(at)
                return SearchResult(at, True)
            self._candidates.append(at)
        self._candidates = sorted(nsmallest(_BEGUN, self._candidates, key=self._end))
        offset = min([self._scanned, *self._candidates[:1]])
        self._pass_over(offset)
        return SearchResult(offset, False)

    def _offsets(self, pattern: re.Pattern[bytes]) -> Iterator[int]:
        """Yield new offsets at which a size and a header may begin."""
        while True:
            match = pattern.search(self._data, self._scanned)
            if match is None:
                break
            at = match.start()
            del match  # it would block resizing of the buffer
            self._scanned = at + 1
            yield at
        self._scanned = max(self._scanned, len(self._data) - self._head + 1)

    def _end(self, at: int) -> int:
        return at + int.from_bytes(self._data[at : at + 4])

    def _pass_over(self, offset: int) -> None:
        del self._data[:offset]
        self._scanned -= offset
        self._candidates = [at - offset for at in self._candidates]


def _response(in_flight: InFlight) -> re.Pattern[bytes]:
    if not in_flight:
        return _NOTHING
    low, high = (number & 0xFFFFFFFF for number in (min(in_flight), max(in_flight)))
    same = 4 - ((low ^ high).bit_length() + 7) // 8
    return _responses(low.to_bytes(4)[:same])


@functools.lru_cache(256)
def _responses(prefix: bytes) -> re.Pattern[bytes]:
    """Return a pattern of responses whose correlation ids share a prefix."""
    rest = b".{%d})" % (4 - len(prefix))
    return re.compile(_SIZE + re.escape(prefix) + rest, re.DOTALL)


_NOTHING: Final = re.compile(b"(?!)")


def _holds(frame: bytes, size: int, in_flight: InFlight | None) -> bool:
    """Return whether the beginning or all of a frame of this size is plausible."""
    try:
        return (
            _is_request(frame, size) if in_flight is None else _is_response(frame, size, in_flight)
        )
    except Malformed:
        return False


def _is_request(frame: bytes, size: int) -> bool:
    try:
        head = request_head(frame, 0, len(frame))
    except Short:
        return len(frame) < size
    if head.key not in NAMES or head.version > api(head.key).versions[1]:
        return False
    name = head.client_id or ""
    if len(name) > _CLIENT_ID or not name.isprintable() or "\ufffd" in name:
        return False
    return len(frame) < size or regular(head.key, head.version, "request", frame[head.body :])


def _is_response(frame: bytes, size: int, in_flight: InFlight) -> bool:
    key, version = in_flight.get(int.from_bytes(frame[:4], signed=True), (-1, 0))
    if key not in NAMES or version > api(key).versions[1]:
        return False
    if len(frame) < size:
        return True
    return regular(key, version, "response", frame[response_body(frame, key, version) :])


def regular(key: int, version: int, direction: Direction, body: bytes) -> bool:
    """Return whether a body decodes without oddities or trailing bytes. Raises Malformed, LookupError."""
    return not inspected(key, version, direction, body)[1]


def inspected(
    key: int, version: int, direction: Direction, body: bytes
) -> tuple[dict[str, Any], Sequence[Any]]:
    """Return the values of a body, and its oddities. Raises Malformed, LookupError."""
    layout = body_version(key, version, direction, body)
    return api(key).message(direction).codec(layout).inspect(body)
