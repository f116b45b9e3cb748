"""API and version of responses whose requests were not captured: those that alone fit the bytes.

A response says neither. Where a capture begins in the middle of a connection, the first responses answer what
was asked before. They end where the first one begins whose request is known; so they are found from there
backwards, by their sizes, and read as everything that they may be.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from barnabas.captures.kafka.framing.frame_resync import regular
from barnabas.specs.frames import response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import REGISTRY, api

MOST: Final = 8
"""Responses before the first known one that are looked for."""

LONGEST: Final = 1 << 20
"""Bytes before the first known response that are looked at."""

_FAR: Final = 10_000
"""By how much a correlation id may be below the first known one: clients count by ones."""


class Inferred(NamedTuple):
    """A response: where it stands among the bytes that were given, and what it is."""

    begin: int
    end: int
    key: int
    version: int
    correlation_id: int
    body: bytes


def inferred(data: bytes, known: int, seen: Iterable[tuple[int, int]]) -> list[Inferred]:
    """The responses with which `data` ends, the first one first; what is before them is passed over.

    known: the correlation id of the response that follows. seen: (key, version) of the requests there;
    what fits one of them alone is that, whatever else it fits.
    """
    usual = tuple(dict.fromkeys(seen))
    found: list[Inferred] = []
    end = len(data)
    while end and len(found) < MOST:
        for begin in _begins(data, end):
            correlation_id = int.from_bytes(data[begin + 4 : begin + 8], signed=True)
            if not known - _FAR <= correlation_id < known:
                continue
            frame = data[begin + 4 : end]
            what = _fits(frame, usual) or _fits(frame, _everything())
            if what is not None:
                found.append(Inferred(begin, end, *what[:2], correlation_id, what[2]))
                end, known = begin, correlation_id
                break
        else:
            break
    return found[::-1]


def _begins(data: bytes, end: int) -> Iterator[int]:
    """Places whose size says that a frame ends at `end`, the shortest one first."""
    for high in range(((end - 4) >> 8) + 1):
        # sizes that begin alike stand within 256 bytes
        first = end - 4 - (high << 8 | 0xFF)
        last = end - 4 - (high << 8)
        begin = last
        while (begin := data.rfind(high.to_bytes(3), max(first, 0), begin + 3)) >= 0:
            if int.from_bytes(data[begin : begin + 4]) == end - begin - 4 >= 4:
                yield begin
            begin -= 1


def _fits(frame: bytes, candidates: tuple[tuple[int, int], ...]) -> tuple[int, int, bytes] | None:
    """The (key, version) and body that alone fit: of one API, the newest of its versions that do."""
    found: dict[int, tuple[int, int, bytes]] = {}
    for key, version in candidates:
        body = _body(frame, key, version)
        if body is not None:
            found[key] = (key, version, body)
            if len(found) > 1:
                return None
    return next(iter(found.values()), None)


def _body(frame: bytes, key: int, version: int) -> bytes | None:
    """The body of a response if it is one of these, wholly and without anything odd."""
    try:
        body = frame[response_body(frame, key, version) :]
        return body if regular(key, version, "response", body) else None
    except (Malformed, LookupError):
        return None


@functools.cache
def _everything() -> tuple[tuple[int, int], ...]:
    """All (key, version), the versions of each ascending."""
    return tuple(
        (key, version)
        for key, *_ in REGISTRY
        for version in range(api(key).versions[0], api(key).versions[1] + 1)
    )
