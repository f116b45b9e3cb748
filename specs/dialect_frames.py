"""Whole frames of a dialect, decoded and encoded, as `barnabas.specs.frames` does Kafka's."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from barnabas.specs.codec.careful_decoder import CarefulDecoder
from barnabas.specs.dialects.dialect import Dialect, DialectApi
from barnabas.specs.frames import Direction
from barnabas.specs.message import Message


@dataclass(frozen=True, slots=True)
class DialectFrame:
    """A whole frame of a dialect, decoded. `response` names which response it is if an API has several."""

    direction: Direction
    api: str
    header: dict[str, Any]
    body: dict[str, Any]
    response: str | None = None


def decode_frame(
    spoken: Dialect,
    data: bytes,
    direction: Direction,
    *,
    api: int | str | None = None,
    response: str | None = None,
) -> DialectFrame:
    """Decode a frame without its size. A response does not name its API: give it.

    If an API has several responses, name the one it is. Raises Malformed (offsets count in the
    header or in the body), or LookupError for an API, version or response that does not exist.
    """
    if direction == "request":
        header, rest = read_header(spoken.request_header, data)
        asked = spoken.api(header[spoken.key_field])
        version = asked.version if spoken.version_field is None else header[spoken.version_field]
        message = asked.request
    else:
        if api is None:
            raise TypeError("a response does not say what it answers: the API is needed")
        asked = spoken.api(api)
        header, rest = read_header(spoken.response_header_of(asked), data)
        version = asked.version
        message = _response(asked, response)
    body = message.codec(version).decode(rest)
    several = direction == "response" and asked.other_responses
    return DialectFrame(direction, asked.name, header, body, message.name if several else None)


def encode_frame(spoken: Dialect, frame: DialectFrame) -> bytes:
    """Return the bytes of a frame, its size in front.

    The API's key and version are filled in where the header lacks them. Raises barnabas.specs.codec.Unfit,
    or LookupError as `decode_frame` does.
    """
    api = spoken.api(frame.api)
    if frame.direction == "request":
        known = {spoken.key_field: api.key}
        if spoken.version_field is not None:
            known[spoken.version_field] = api.version
        header = spoken.request_header.codec(0).encode(known | frame.header)
        message = api.request
    else:
        header = spoken.response_header_of(api).codec(0).encode(frame.header)
        message = _response(api, frame.response)
    data = header + message.codec(api.version).encode(frame.body)
    return struct.pack(">i", len(data)) + data


def _response(api: DialectApi, name: str | None) -> Message:
    found = {message.name: message for message in api.responses}
    if name is None:
        if api.other_responses:
            raise TypeError(f"{api.name} has several responses: name one of {', '.join(found)}")
        return api.responses[0]
    if name not in found:
        raise LookupError(f"{api.name} has no response {name!r}; there is {', '.join(found)}")
    return found[name]


def read_header(header: Message, data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the fields of a frame's header, and the body behind it. Raises Malformed."""
    reader = CarefulDecoder(data)
    fields = reader.struct(header.layout(0), "")
    return fields, data[reader.offset :]
