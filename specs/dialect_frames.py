"""Decodes and encodes whole frames of a dialect, as `barnabas.specs.frames` does for Kafka."""

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
    """A decoded frame of a dialect. `response` names the layout if the API has several responses."""

    direction: Direction
    api: str
    header: dict[str, Any]
    body: dict[str, Any]
    response: str | None = None


def decode_frame(
    dialect: Dialect,
    data: bytes,
    direction: Direction,
    *,
    api: int | str | None = None,
    response: str | None = None,
) -> DialectFrame:
    """Decode a frame without its size.

    A response does not name its API, so pass `api`. If the API has several responses, pass the name of one as
    `response`. Offsets in errors count in the header or in the body.

    Raises:
        Malformed: The bytes do not fit the layout.
        LookupError: The API, version or response does not exist.
    """
    if direction == "request":
        header, rest = read_header(dialect.request_header, data)
        declared_api = dialect.api(header[dialect.key_field])
        version = (
            declared_api.version if dialect.version_field is None else header[dialect.version_field]
        )
        message = declared_api.request
    else:
        if api is None:
            raise TypeError("a response does not name its API: the API is needed")
        declared_api = dialect.api(api)
        header, rest = read_header(dialect.response_header_of(declared_api), data)
        version = declared_api.version
        message = _response(declared_api, response)
    body = message.codec(version).decode(rest)
    several = direction == "response" and declared_api.other_responses
    return DialectFrame(
        direction, declared_api.name, header, body, message.name if several else None
    )


def encode_frame(dialect: Dialect, frame: DialectFrame) -> bytes:
    """Return the bytes of a frame, with its size.

    If the header lacks the API's key and version, they are added. Raises barnabas.specs.codec.Unfit, or
    LookupError as `decode_frame` does.
    """
    api = dialect.api(frame.api)
    if frame.direction == "request":
        defaults = {dialect.key_field: api.key}
        if dialect.version_field is not None:
            defaults[dialect.version_field] = api.version
        header = dialect.request_header.codec(0).encode(defaults | frame.header)
        message = api.request
    else:
        header = dialect.response_header_of(api).codec(0).encode(frame.header)
        message = _response(api, frame.response)
    data = header + message.codec(api.version).encode(frame.body)
    return struct.pack(">i", len(data)) + data


def _response(api: DialectApi, name: str | None) -> Message:
    by_name = {message.name: message for message in api.responses}
    if name is None:
        if api.other_responses:
            raise TypeError(f"{api.name} has several responses: name one of {', '.join(by_name)}")
        return api.responses[0]
    if name not in by_name:
        raise LookupError(f"{api.name} has no response {name!r}; there is {', '.join(by_name)}")
    return by_name[name]


def read_header(header: Message, data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the fields of a frame's header, and the body after it. Raises Malformed."""
    reader = CarefulDecoder(data)
    fields = reader.struct(header.layout(0), "")
    return fields, data[reader.offset :]
