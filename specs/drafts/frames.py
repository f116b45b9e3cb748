"""Whole frames of a draft, both ways: what `barnabas.specs.frames` is for Kafka's own protocol."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from barnabas.specs.codec.careful_decoder import FIXED
from barnabas.specs.drafts.idiom import Draft, DraftApi
from barnabas.specs.frames import Direction
from barnabas.specs.message import Message


@dataclass(frozen=True, slots=True)
class DraftFrame:
    """A whole frame of a draft, decoded. `response` names which response it is if an API has several."""

    direction: Direction
    api: str
    header: dict[str, Any]
    body: dict[str, Any]
    response: str | None = None


def decode_frame(
    draft: Draft,
    data: bytes,
    direction: Direction,
    *,
    api: int | str | None = None,
    response: str | None = None,
) -> DraftFrame:
    """A frame without its size, decoded. A response does not say what it answers: give the API.

    If an API has several responses, name the one it is. Raises Malformed (offsets count in the
    header or in the body), or LookupError for an API, version or response that does not exist.

    >>> from barnabas.specs.drafts import draft
    >>> data = bytes.fromhex("000c 0000 00000007 0001 61  0001 67 00000003 0001 63")
    >>> decode_frame(draft("rewrite-0.8.2"), data, "request").body
    {'group_id': 'g', 'group_generation_id': 3, 'consumer_id': 'c'}
    """
    if direction == "request":
        header_message = draft.request_header
        header = header_message.codec(0).decode(data)
        asked = draft.api(header[draft.key_field])
        version = asked.version if draft.version_field is None else header[draft.version_field]
        message = asked.request
    else:
        if api is None:
            raise TypeError("a response does not say what it answers: the API is needed")
        asked = draft.api(api)
        header_message = draft.response_header_of(asked)
        header = header_message.codec(0).decode(data)
        version = asked.version
        message = _response(asked, response)
    codec = message.codec(version)
    body = codec.decode(data[_size(header_message, data) :])
    several = direction == "response" and asked.other_responses
    return DraftFrame(direction, asked.name, header, body, message.name if several else None)


def encode_frame(draft: Draft, frame: DraftFrame) -> bytes:
    """The bytes of a frame with its size in front.

    The API's key and version are filled in where the header lacks them. Raises barnabas.specs.codec.Unfit,
    or LookupError as `decode_frame` does.

    >>> from barnabas.specs.drafts import draft
    >>> central = draft("central-coordination")
    >>> encode_frame(central, DraftFrame("request", "Ping", {}, {})).hex(" ", 4)
    '0000 00020007'
    """
    api = draft.api(frame.api)
    if frame.direction == "request":
        known = {draft.key_field: api.key}
        if draft.version_field is not None:
            known[draft.version_field] = api.version
        header = draft.request_header.codec(0).encode(known | frame.header)
        message = api.request
    else:
        header = draft.response_header_of(api).codec(0).encode(frame.header)
        message = _response(api, frame.response)
    data = header + message.codec(api.version).encode(frame.body)
    return struct.pack(">i", len(data)) + data


def _response(api: DraftApi, name: str | None) -> Message:
    found = {message.name: message for message in api.responses}
    if name is None:
        if api.other_responses:
            raise TypeError(f"{api.name} has several responses: name one of {', '.join(found)}")
        return api.responses[0]
    if name not in found:
        raise LookupError(f"{api.name} has no response {name!r}; there is {', '.join(found)}")
    return found[name]


def _size(header: Message, data: bytes) -> int:
    """How many bytes a header takes that was decoded already: fixed fields and strings only."""
    at = 0
    for slot in header.layout(0).slots:
        if slot.node.kind == "string":
            at += 2 + max(0, FIXED["int16"].unpack_from(data, at)[0])
        else:
            at += FIXED[slot.node.kind].size
    return at
