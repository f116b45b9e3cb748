"""Where a frame begins in the middle of a stream: behind a gap, or before the capture began.

A place holds if what is there reads as a frame, wholly and without anything odd: size, header, and a
body that ends where the size says. A request says what it is; a response answers one that waits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest
from itertools import chain
from typing import Final, NamedTuple

from barnabas.captures.kafka.exchange import body_version
from barnabas.specs.frames import Direction, Short, request_head, response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

LONGEST: Final = (1 << 24) - 1
"""Bytes of the largest frame by which a boundary is recognised; larger ones are passed over."""

_EFFORT: Final = 64 << 20
"""Bytes of frames that are tried at once; more would take too long in hostile ones."""
_BEGUN: Final = 64
"""Places that are remembered until the frames that may begin there are whole."""
_CLIENT_ID: Final = 512
"""Bytes of a client id by which a request is recognised."""

_SIZE: Final = rb"\x00(?=(?:\x00\x00[\x04-\xff]|\x00[\x01-\xff].|[\x01-\xff]..)"
"""A size up to `LONGEST`; matches its first byte alone, so that places may overlap."""
_REQUEST: Final = re.compile(
    _SIZE + rb"\x00[\x00-%c]\x00[\x00-\x1f].{4}(?:[\x00-\x02].|\xff\xff))" % max(NAMES), re.DOTALL
)
_REQUEST_HEAD: Final = 14
_RESPONSE_HEAD: Final = 8

Asked = Mapping[int, tuple[int, int]]
"""(key, version) of the requests that wait, by correlation id."""


class Place(NamedTuple):
    """No frame begins in the next `offset` bytes. If `found`, one begins behind them."""

    offset: int
    found: bool


class FrameResync:
    """Looks for a request, or for a response to one of those that `asked` returns.

    >>> ask = bytes.fromhex("0000000f 0003 0001 00000007 0001 61 ffffffff")
    >>> search = FrameResync()
    >>> search.feed(b"the end of another" + ask[:9]), search.feed(ask[9:])
    (Place(offset=14, found=False), Place(offset=4, found=True))
    """

    def __init__(self, asked: Callable[[], Asked] | None = None) -> None:
        self._asked = asked
        self._head = _REQUEST_HEAD if asked is None else _RESPONSE_HEAD
        self.clear()

    def clear(self) -> None:
        """What was fed so far is followed by a gap, or was found."""
        self._data = bytearray()
        self._scanned = 0
        self._begun: list[int] = []

    def feed(self, data: bytes) -> Place:
        """The next bytes. Offsets count from what the calls before have not passed over."""
        self._data += data
        asked = None if self._asked is None else self._asked()
        pattern = _REQUEST if asked is None else _response(asked)
        begun, self._begun = self._begun, []
        effort = 0
        for at in chain(begun, self._places(pattern)):
            size = int.from_bytes(self._data[at : at + 4])
            whole = at + 4 + size <= len(self._data)
            effort += size if whole else 0
            looked_at = size if whole else _CLIENT_ID + _REQUEST_HEAD
            frame = self._data[at + 4 : at + 4 + looked_at]
            if effort > _EFFORT:
                self._begun = []
                self._scanned = len(self._data)
                break
            if not _holds(bytes(frame), size, asked):
                continue
            if whole:
                self._pass_over(at)
                return Place(at, True)
            self._begun.append(at)
        self._begun = sorted(nsmallest(_BEGUN, self._begun, key=self._end))
        offset = min([self._scanned, *self._begun[:1]])
        self._pass_over(offset)
        return Place(offset, False)

    def _places(self, pattern: re.Pattern[bytes]) -> Iterator[int]:
        """Places that were not looked at yet, where a size and a header may stand."""
        while True:
            match = pattern.search(self._data, self._scanned)
            if match is None:
                break
            at = match.start()
            del match  # it would keep the buffer from changing its size
            self._scanned = at + 1
            yield at
        self._scanned = max(self._scanned, len(self._data) - self._head + 1)

    def _end(self, at: int) -> int:
        return at + int.from_bytes(self._data[at : at + 4])

    def _pass_over(self, offset: int) -> None:
        del self._data[:offset]
        self._scanned -= offset
        self._begun = [at - offset for at in self._begun]


def _response(asked: Asked) -> re.Pattern[bytes]:
    if not asked:
        return _NOTHING
    low, high = (number & 0xFFFFFFFF for number in (min(asked), max(asked)))
    same = 4 - ((low ^ high).bit_length() + 7) // 8
    return _responses(low.to_bytes(4)[:same])


@functools.lru_cache(256)
def _responses(prefix: bytes) -> re.Pattern[bytes]:
    """Responses whose correlation ids all begin so."""
    rest = b".{%d})" % (4 - len(prefix))
    return re.compile(_SIZE + re.escape(prefix) + rest, re.DOTALL)


_NOTHING: Final = re.compile(b"(?!)")


def _holds(frame: bytes, size: int, asked: Asked | None) -> bool:
    """Whether a frame of this size may be one; its end may be missing."""
    try:
        return _is_request(frame, size) if asked is None else _answers(frame, size, asked)
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


def _answers(frame: bytes, size: int, asked: Asked) -> bool:
    key, version = asked.get(int.from_bytes(frame[:4], signed=True), (-1, 0))
    if key not in NAMES or version > api(key).versions[1]:
        return False
    if len(frame) < size:
        return True
    return regular(key, version, "response", frame[response_body(frame, key, version) :])


def regular(key: int, version: int, direction: Direction, body: bytes) -> bool:
    """Whether a body reads as one, with nothing odd and nothing behind it. Raises Malformed, LookupError."""
    layout = body_version(key, version, direction, body)
    _, oddities = api(key).message(direction).codec(layout).inspect(body)
    return not oddities
