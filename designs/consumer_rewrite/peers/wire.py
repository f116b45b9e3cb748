"""Frames of this protocol: the draft's own APIs, and two of Kafka's beside them."""

from __future__ import annotations

import struct
from typing import Any, Final

from barnabas import specs
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.specs.dialect_frames import DialectFrame, decode_frame, encode_frame
from barnabas.specs.frames import Short, request_head
from barnabas.specs.headers import REQUEST_HEADER
from barnabas.specs.keys import METADATA, OFFSET_FETCH
from barnabas.specs.malformed import Malformed

CODES: Final = {"NONE": 0} | {error.name: error.code for error in REWRITE_0_8_2.errors}
NAMES: Final = {error.code: error.name for error in REWRITE_0_8_2.errors} | {0: "NONE"}

_KAFKAS: Final = {METADATA: ("Metadata", 0), OFFSET_FETCH: ("OffsetFetch", 1)}
_VERSIONS: Final = dict(_KAFKAS.values())
_KEYS: Final = {name: key for key, (name, _) in _KAFKAS.items()}


def error_name(code: int) -> str:
    """The draft's name of an error; what it does not number is Unknown."""
    return NAMES.get(code, "Unknown")


def read_request(frame: bytes) -> tuple[int, str, dict[str, Any]]:
    """Correlation id, API and body of a frame without its size. Raises Malformed for anything else."""
    try:
        head = request_head(frame, 0, len(frame))
        if head.key not in _KAFKAS:
            found = decode_frame(REWRITE_0_8_2, frame, "request")
            if found.header["api_version"] != REWRITE_0_8_2.api(found.api).version:
                raise Malformed("api_version", 2, f"{found.api} v{head.version} is not spoken here")
            return head.correlation_id, found.api, found.body
    except (Short, LookupError) as problem:
        raise Malformed("header", 0, str(problem) or "the header is cut off") from None
    name, version = _KAFKAS[head.key]
    if head.version != version:
        raise Malformed("api_version", 2, f"{name} v{head.version} is not spoken here")
    body = specs.api(head.key).request.codec(version).decode(bytes(frame[head.body :]))
    return head.correlation_id, name, body


def response(api: str, correlation_id: int, body: dict[str, Any]) -> bytes:
    """The bytes of a response, with its size."""
    if api in _KEYS:
        data = struct.pack(">i", correlation_id)
        data += specs.api(_KEYS[api]).response.codec(_VERSIONS[api]).encode(body)
        return struct.pack(">i", len(data)) + data
    header = {"correlation_id": correlation_id}
    return encode_frame(REWRITE_0_8_2, DialectFrame("response", api, header, body))


def request(api: str, correlation_id: int, client_id: str, body: dict[str, Any]) -> bytes:
    """The bytes of a request, with its size."""
    header: dict[str, Any] = {"correlation_id": correlation_id, "client_id": client_id}
    if api in _KEYS:
        header |= {"request_api_key": _KEYS[api], "request_api_version": _VERSIONS[api]}
        data = REQUEST_HEADER.codec(1).encode(header)
        data += specs.api(_KEYS[api]).request.codec(_VERSIONS[api]).encode(body)
        return struct.pack(">i", len(data)) + data
    return encode_frame(REWRITE_0_8_2, DialectFrame("request", api, header, body))


def read_response(frame: bytes, api: str) -> tuple[int, dict[str, Any]]:
    """Correlation id and body of a frame without its size that answers this API. Raises Malformed."""
    if api in _KEYS:
        if len(frame) < 4:
            raise Malformed("header", 0, "the header is cut off")
        codec = specs.api(_KEYS[api]).response.codec(_VERSIONS[api])
        return struct.unpack_from(">i", frame)[0], codec.decode(frame[4:])
    found = decode_frame(REWRITE_0_8_2, frame, "response", api=api)
    return found.header["correlation_id"], found.body
