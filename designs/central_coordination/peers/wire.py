"""Frames of this protocol. A response has an error code in place of a type, and no correlation id."""

from __future__ import annotations

import struct
from typing import Any, Final

from barnabas.designs.central_coordination.schemas import (
    CENTRAL_COORDINATION,
    stop_fetcher_response,
)
from barnabas.specs.dialect_frames import DialectFrame, decode_frame, encode_frame
from barnabas.specs.malformed import Malformed

NAMES: Final = {error.code: error.name for error in CENTRAL_COORDINATION.errors} | {0: "NONE"}
CODES: Final = {name: code for code, name in NAMES.items()}


def request(api: str, body: dict[str, Any] | None = None) -> bytes:
    """Return the bytes of a request, with its size."""
    return encode_frame(CENTRAL_COORDINATION, DialectFrame("request", api, {}, body or {}))


def read_request(frame: bytes) -> tuple[str, dict[str, Any]]:
    """Return API and body of a frame without its size. Raises Malformed."""
    try:
        decoded = decode_frame(CENTRAL_COORDINATION, frame, "request")
    except LookupError as problem:
        raise Malformed("request_type_id", 0, str(problem)) from None
    return decoded.api, decoded.body


def response(
    api: str, error: str = "NONE", body: dict[str, Any] | None = None, *, offsets: bool = True
) -> bytes:
    """Return the bytes of a response, with its size; an error has no body.

    offsets: the auto_commit that the consumer registered with.
    """
    if error != "NONE":
        return struct.pack(">ih", 2, CODES[error])
    layout = stop_fetcher_response(auto_commit=offsets) if api == "StopFetcher" else None
    header = {"error_code": 0}
    frame = DialectFrame("response", api, header, body or {}, layout)
    return encode_frame(CENTRAL_COORDINATION, frame)


def read_response(frame: bytes, api: str, *, offsets: bool = True) -> tuple[str, dict[str, Any]]:
    """Return error and body of a response to this API, without its size. Raises Malformed.

    What follows an error is ignored.
    """
    if len(frame) < 2:
        raise Malformed("header", 0, "the error code is cut off")
    error = NAMES.get(int.from_bytes(frame[:2], signed=True), "Unknown")
    if error != "NONE":
        return error, {}
    layout = stop_fetcher_response(auto_commit=offsets) if api == "StopFetcher" else None
    return error, decode_frame(
        CENTRAL_COORDINATION, frame, "response", api=api, response=layout
    ).body
