"""Infer API and version of responses whose requests were not captured.

A response has neither, so it is decoded as every API and version. Where a capture begins in the middle of a
connection, the first responses answer earlier requests. They end where the first response to a known request
begins; so they are found backwards from there, by their sizes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.framing.frame_resync import inspected
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.frames import response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import REGISTRY, api

MOST: Final = 8
"""Responses before the first known one that are inferred."""

LONGEST: Final = 1 << 20
"""Bytes before the first known response that are searched."""

SEARCHED_BYTES: Final = 8 << 10
"""Bytes of the longest response of a connection without requests that is decoded as every API."""

_ERRORS: Final = frozenset((0, *(error.code for error in ERROR_CODES)))
_FAR: Final = 10_000
"""By how much a correlation id may be below the first known one: clients increment by one."""


class Layout(NamedTuple):
    """The API and version as which a response was decoded, and its body."""

    key: int
    version: int
    body: bytes


class Inferred(NamedTuple):
    """An inferred response, its position in the given bytes, and its correlation id."""

    begin: int
    end: int
    layout: Layout
    correlation_id: int


def inferred(data: bytes, known_id: int, requests: Iterable[tuple[int, int]]) -> list[Inferred]:
    """Return the responses at the end of `data`, in order; bytes before them are ignored.

    Args:
        data: The bytes before a known response.
        known_id: The correlation id of that response.
        requests: Key and version of requests on the connection; they take precedence over all others.
    """
    candidates = tuple(dict.fromkeys(requests))
    responses: list[Inferred] = []
    end = len(data)
    while end and len(responses) < MOST:
        for begin in _begins(data, end):
            correlation_id = int.from_bytes(data[begin + 4 : begin + 8], signed=True)
            if not known_id - _FAR <= correlation_id < known_id:
                continue
            frame = data[begin + 4 : end]
            layout = fitting(frame, candidates) or fitting(frame)
            if layout is not None:
                responses.append(Inferred(begin, end, layout, correlation_id))
                end, known_id = begin, correlation_id
                break
        else:
            break
    return responses[::-1]


def _begins(data: bytes, end: int) -> Iterator[int]:
    """Yield the offsets at which a frame may begin that ends at `end`, the shortest frame first."""
    for high in range(((end - 4) >> 8) + 1):
        # sizes with the same first three bytes are within 256 bytes
        first = end - 4 - (high << 8 | 0xFF)
        last = end - 4 - (high << 8)
        begin = last
        while (begin := data.rfind(high.to_bytes(3), max(first, 0), begin + 3)) >= 0:
            if int.from_bytes(data[begin : begin + 4]) == end - begin - 4 >= 4:
                yield begin
            begin -= 1


def fitting(frame: bytes, candidates: Iterable[tuple[int, int]] | None = None) -> Layout | None:
    """Return the layout of a response if only one API fits, in the newest version that does.

    None: several APIs fit, or versions of one that read different values.

    Args:
        frame: The response without its size.
        candidates: Keys and versions; None: all of them, which takes milliseconds.
    """
    newest: Layout | None = None
    read: dict[str, Any] = {}
    for layout, values in _fits(frame, _everything() if candidates is None else candidates):
        if newest is not None and (layout.key != newest.key or values != read):
            return None
        newest, read = layout, values
    return newest


def of_one_api(frame: bytes) -> bool:
    """Return whether a response, without its size, can be read as one API only, in any version."""
    key: int | None = None
    for layout, _ in _fits(frame, _everything()):
        if key not in (None, layout.key):
            return False
        key = layout.key
    return key is not None


def _fits(
    frame: bytes, candidates: Iterable[tuple[int, int]]
) -> Iterator[tuple[Layout, dict[str, Any]]]:
    """Yield the layouts of a response that decode without oddities and unknown errors, and its values."""
    for key, version in candidates:
        try:
            body = frame[response_body(frame, key, version) :]
            values, oddities = inspected(key, version, "response", body)
        except (Malformed, LookupError):
            continue
        if not oddities and values.get("error_code", 0) in _ERRORS:
            yield Layout(key, version, body), values


@functools.cache
def _everything() -> tuple[tuple[int, int], ...]:
    """Return every API key and version, ascending."""
    return tuple(
        (key, version)
        for key, *_ in REGISTRY
        for version in range(api(key).versions[0], api(key).versions[1] + 1)
    )
