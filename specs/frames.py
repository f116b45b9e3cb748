"""Frames (an int32 size, a header, a body), and what can be read of a frame before its body.

Layout: KafkaProtocol guide; RequestHeader.json, ResponseHeader.json. `request_head` is on the proxy's hot
path: it is written by hand and reads no more bytes than it needs.
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
    """The fields before a request's body. `body` is the offset of the body in the frame."""

    key: int
    version: int
    correlation_id: int
    client_id: str | None
    body: int
    acks: int | None
    """The acks of a Produce request (0: the broker sends no response); None for other APIs."""


class Short(Exception):
    """The frame's head is incomplete: more bytes are needed."""


def request_head(data: Any, start: int, end: int) -> RequestHead:
    """Return the head of a request whose bytes, without the size, are data[start:end].

    Raises:
        Short: More bytes are needed.
        Malformed: No further bytes could complete the head.

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
    """Return the first flexible version of an API."""
    return api(key).flexible


@functools.cache
def _tagged(key: int) -> range:
    """Return the versions whose header tags are read.

    The layout after the client id is unknown for future versions. Only for Produce they are tried, since such
    a request may have no response.
    """
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
    """Return the offset after tags in which a number is negative or has too many bits."""
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
    """Return an unsigned varint as Kafka reads it, and the next offset.

    Kafka reads up to 5 bytes as a signed 32-bit number.

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
    """Return the acks of a Produce request, which follow the transactional id from v3 on."""
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
    """Return the offset of a response's body: after the correlation id and the header's tags."""
    if response_header_version(key, version) == 0:
        return 4
    try:
        return _past_tags(data, 4, len(data))
    except Short:
        raise Malformed("header._tags", 4, "the header's tags are cut off") from None


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole decoded frame."""

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
    """Decode a frame without its size. A response does not name its API: pass `key` and `version`.

    `release` matters for the few versions whose bytes changed between releases, e.g. "2.7". Raises Malformed,
    or LookupError for an unknown API or version.

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
            raise TypeError("a response does not name its API: key and version are needed")
        if len(data) < 4:
            raise Malformed("header", len(data), "the header is cut off")
        offset = response_body(data, key, version)
    header = header_codec(direction, key, version).decode(data[:offset])
    body = api(key).message(direction).codec(version, release).decode(data[offset:])
    return Frame(direction, key, version, header, body)


def frame_body(data: bytes, frame: Frame) -> bytes:
    """Return the body's bytes from the bytes of a decoded frame."""
    if frame.direction == "request":
        return data[request_head(data, 0, len(data)).body :]
    return data[response_body(data, frame.key, frame.version) :]


def encode_frame(frame: Frame, *, release: str | None = None) -> bytes:
    """Return the bytes of a frame, with its size. Raises barnabas.specs.codec.Unfit.

    A request's header gets the frame's key and version unless it has its own.
    """
    header = frame.header
    if frame.direction == "request":
        header = {"request_api_key": frame.key, "request_api_version": frame.version} | header
    message = api(frame.key).message(frame.direction)
    data = header_codec(frame.direction, frame.key, frame.version).encode(header)
    data += message.codec(frame.version, release).encode(frame.body)
    return struct.pack(">i", len(data)) + data
