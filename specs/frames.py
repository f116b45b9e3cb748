"""Frames: an int32 size, a header, a body. What can be read of a frame before its body is.

Layout: KafkaProtocol guide; RequestHeader.json, ResponseHeader.json. `request_head` is the hot path
of the proxy: it is written by hand and reads no further than it must.
"""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from barnabas.specs.codec.irregular import Irregular, uvarint_from
from barnabas.specs.headers import header_codec, response_header_version
from barnabas.specs.keys import CONTROLLED_SHUTDOWN, PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

Direction = Literal["request", "response"]

DIRECTIONS: Final[tuple[Direction, Direction]] = ("request", "response")

OPPOSITE: Final[dict[Direction, Direction]] = {"request": "response", "response": "request"}


_FIXED = struct.Struct(">hhih")
_INT16 = struct.Struct(">h")


class RequestHead(NamedTuple):
    """What stands in front of a request's body. `body` is the offset of the body in the frame."""

    key: int
    version: int
    correlation_id: int
    client_id: str | None
    body: int
    acks: int | None
    """A Produce request's acks: 0 means that no response will come. None for any other API."""


class Short(Exception):
    """The frame's head is not complete yet."""


def request_head(data: Any, start: int, end: int) -> RequestHead:
    """The head of a request whose bytes (without the size) stand in data[start:end].

    Raises Short if more bytes are needed, Malformed if no number of them would help.

    >>> request_head(bytes.fromhex("0003 0001 00000007 0001 61 ffffffff"), 0, 15)
    RequestHead(key=3, version=1, correlation_id=7, client_id='a', body=11, acks=None)
    """
    if end - start < 10:
        if end - start >= 8 and data[start : start + 4] == b"\x00\x07\x00\x00":
            _, _, correlation_id = struct.unpack_from(">hhi", data, start)
            return RequestHead(CONTROLLED_SHUTDOWN, 0, correlation_id, None, 8, None)
        raise Short
    key, version, correlation_id, length = _FIXED.unpack_from(data, start)
    if key == CONTROLLED_SHUTDOWN and version == 0:
        return RequestHead(key, version, correlation_id, None, 8, None)
    at = start + 10
    client_id = None
    if length >= 0:
        if at + length > end:
            raise Short
        client_id = str(data[at : at + length], "utf-8", "replace")
        at += length
    # any negative length is null (RequestHeaderData, and NULLABLE_STRING before 2.4)
    if key in NAMES and version in _tagged(key):
        at = _past_tags(data, at, end)
    return RequestHead(
        key,
        version,
        correlation_id,
        client_id,
        at - start,
        _acks(data, at, end, version) if key == PRODUCE else None,
    )


@functools.cache
def flexible_since(key: int) -> int:
    """The first flexible version of an API."""
    return api(key).flexible


@functools.cache
def _tagged(key: int) -> range:
    """The versions whose header's tags are read. Of a version to come nobody knows what stands behind
    the client id; only of Produce more is tried, since it may be one that is not answered."""
    newest = 32767 if key == PRODUCE else api(key).versions[1]
    return range(flexible_since(key), newest + 1)


def _past_tags(data: Any, at: int, end: int) -> int:
    start = at
    try:
        count, at = uvarint_from(data, at)
        for _ in range(count):
            _, at = uvarint_from(data, at)
            size, at = uvarint_from(data, at)
            at += size
            if at > end:
                raise Short
    except IndexError:
        raise Short from None
    except Irregular:
        return _past_odd_tags(data, start, end)
    if at > end:
        raise Short
    return at


def _past_odd_tags(data: Any, at: int, end: int) -> int:
    """The same where a number is negative or has more bits than it should."""
    try:
        count, at = _varint(data, at)
        if count < 0:
            raise Malformed("header._tags", 0, f"{count} tagged fields")
        for _ in range(count):
            tag, at = _varint(data, at)
            size, at = _varint(data, at)
            if size < 0:
                raise Malformed("header._tags", 0, f"size {size} of tag {tag}")
            at += size
            if at > end:
                raise Short
    except IndexError:
        raise Short from None
    except Irregular:
        raise Malformed("header._tags", 0, "a varint goes on after 5 bytes") from None
    return at


def _varint(data: Any, at: int) -> tuple[int, int]:
    """An unsigned varint as Kafka reads it: up to 5 bytes, as a signed 32-bit number; the position behind.

    >>> _varint(bytes.fromhex("ffffffff0f"), 0), _varint(bytes.fromhex("808080801000"), 0)
    ((-1, 5), (0, 5))
    """
    value = 0
    for shift in range(0, 35, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= 0xFFFFFFFF
            return (value - (1 << 32) if value >> 31 else value), at
    raise Irregular


def _acks(data: Any, at: int, end: int, version: int) -> int:
    """Produce's acks; they stand behind the transactional id, which v3 brought."""
    try:
        if version >= flexible_since(PRODUCE):
            length, at = _varint(data, at)
            at += max(length - 1, 0)
        elif version >= 3:
            if at + 2 > end:
                raise Short
            (length,) = _INT16.unpack_from(data, at)
            at += 2 + max(length, 0)
    except IndexError:
        raise Short from None
    except Irregular:
        raise Malformed("transactional_id", 0, "a varint goes on after 5 bytes") from None
    if at + 2 > end:
        raise Short
    acks: int = _INT16.unpack_from(data, at)[0]
    return acks


def response_body(data: bytes, key: int, version: int) -> int:
    """Where the body of a response begins: behind the correlation id and the header's tags."""
    if response_header_version(key, version) == 0:
        return 4
    try:
        return _past_tags(data, 4, len(data))
    except Short:
        raise Malformed("header._tags", 4, "the header's tags are cut off") from None


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole frame, decoded."""

    direction: Direction
    key: int
    version: int
    header: dict[str, Any]
    body: dict[str, Any]


def decode_frame(
    data: bytes,
    direction: Direction,
    *,
    key: int | None = None,
    version: int | None = None,
    release: str | None = None,
) -> Frame:
    """A frame without its size, decoded. A response does not say what it answers: give both.

    `release` is of interest for the few versions whose bytes changed between releases, e.g. "2.7".
    Raises Malformed, or LookupError for an API or version that does not exist.

    >>> frame = decode_frame(bytes.fromhex("0003 0001 00000007 0001 61 ffffffff"), "request")
    >>> frame.header["client_id"], frame.body
    ('a', {'topics': None})
    """
    if direction == "request":
        try:
            head = request_head(data, 0, len(data))
        except Short:
            raise Malformed("header", len(data), "the header is cut off") from None
        key, version, offset = head.key, head.version, head.body
    else:
        if key is None or version is None:
            raise TypeError("a response does not say what it answers: key and version are needed")
        if len(data) < 4:
            raise Malformed("header", len(data), "the header is cut off")
        offset = response_body(data, key, version)
    header = header_codec(direction, key, version).decode(data[:offset])
    body = api(key).message(direction).codec(version, release).decode(data[offset:])
    return Frame(direction, key, version, header, body)


def frame_body(data: bytes, frame: Frame) -> bytes:
    """The body's bytes in the bytes that a frame was decoded from."""
    if frame.direction == "request":
        return data[request_head(data, 0, len(data)).body :]
    return data[response_body(data, frame.key, frame.version) :]


def encode_frame(frame: Frame, *, release: str | None = None) -> bytes:
    """The bytes of a frame with its size in front; a request's header has the frame's key and version
    unless it says others. Raises barnabas.specs.codec.Unfit."""
    header = frame.header
    if frame.direction == "request":
        header = {"request_api_key": frame.key, "request_api_version": frame.version} | header
    message = api(frame.key).message(frame.direction)
    data = header_codec(frame.direction, frame.key, frame.version).encode(header)
    data += message.codec(frame.version, release).encode(frame.body)
    return struct.pack(">i", len(data)) + data
