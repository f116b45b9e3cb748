"""Frames of this protocol: the draft's own APIs, and two of Kafka's."""

from __future__ import annotations

from typing import Any, Final

from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.specs import frames
from barnabas.specs.dialect_frames import DialectFrame, decode_frame, encode_frame
from barnabas.specs.frames import Frame, Short, request_head
from barnabas.specs.keys import METADATA, OFFSET_FETCH
from barnabas.specs.malformed import Malformed

NAMES: Final = {error.code: error.name for error in REWRITE_0_8_2.errors} | {0: "NONE"}
CODES: Final = {name: code for code, name in NAMES.items()}

_KAFKAS: Final = {METADATA: "Metadata", OFFSET_FETCH: "OffsetFetch"}
_KEYS: Final = {name: key for key, name in _KAFKAS.items()}
_VERSIONS: Final = {METADATA: 0, OFFSET_FETCH: 1} | {
    api.key: api.version for api in REWRITE_0_8_2.apis
}


def error_name(code: int) -> str:
    """Return the draft's name of an error; Unknown for a code without one."""
    return NAMES.get(code, "Unknown")


def read_request(frame: bytes) -> tuple[int, str, dict[str, Any]]:
    """Return correlation id, API and body of a frame without its size. Raises Malformed."""
    try:
        head = request_head(frame, 0, len(frame))
        if head.version != _VERSIONS.get(head.key, head.version):
            raise Malformed("api_version", 2, f"version {head.version} is not spoken here")
        if head.key in _KAFKAS:
            return (
                head.correlation_id,
                _KAFKAS[head.key],
                frames.decode_frame(frame, "request").body,
            )
        decoded = decode_frame(REWRITE_0_8_2, frame, "request")
    except (Short, LookupError) as problem:
        raise Malformed("header", 0, str(problem) or "the header is cut off") from None
    return head.correlation_id, decoded.api, decoded.body


def response(api: str, correlation_id: int, body: dict[str, Any]) -> bytes:
    """Return the bytes of a response, with its size."""
    header = {"correlation_id": correlation_id}
    if api in _KEYS:
        return frames.encode_frame(
            Frame("response", _KEYS[api], _VERSIONS[_KEYS[api]], header, body)
        )
    return encode_frame(REWRITE_0_8_2, DialectFrame("response", api, header, body))


def request(api: str, correlation_id: int, client_id: str, body: dict[str, Any]) -> bytes:
    """Return the bytes of a request, with its size."""
    header: dict[str, Any] = {"correlation_id": correlation_id, "client_id": client_id}
    if api in _KEYS:
        return frames.encode_frame(
            Frame("request", _KEYS[api], _VERSIONS[_KEYS[api]], header, body)
        )
    return encode_frame(REWRITE_0_8_2, DialectFrame("request", api, header, body))


def read_response(frame: bytes, api: str) -> tuple[int, dict[str, Any]]:
    """Return correlation id and body of a response to this API, without its size. Raises Malformed."""
    key = _KEYS.get(api)
    if key is not None:
        kafkas = frames.decode_frame(frame, "response", key=key, version=_VERSIONS[key])
        return kafkas.header["correlation_id"], kafkas.body
    decoded = decode_frame(REWRITE_0_8_2, frame, "response", api=api)
    return decoded.header["correlation_id"], decoded.body
