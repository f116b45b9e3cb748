"""Frames of this protocol. A response has an error code in place of a type, and no correlation id."""

from __future__ import annotations

import struct
from typing import Any, Final

from barnabas.designs.central_coordination.schemas import (
    CENTRAL_COORDINATION,
    STOP_FETCHER_WITHOUT_OFFSETS,
    StopFetcher,
    stop_fetcher_response,
)
from barnabas.specs.dialect_frames import DialectFrame, decode_frame, encode_frame
from barnabas.specs.malformed import Malformed

CODES: Final = {"NONE": 0} | {error.name: error.code for error in CENTRAL_COORDINATION.errors}
NAMES: Final = {error.code: error.name for error in CENTRAL_COORDINATION.errors} | {0: "NONE"}

_CODE = struct.Struct(">h")


def error_name(code: int) -> str:
    """The draft's name of an error; what it does not number is Unknown."""
    return NAMES.get(code, "Unknown")


def request(api: str, body: dict[str, Any] | None = None) -> bytes:
    """The bytes of a request, with its size."""
    return encode_frame(CENTRAL_COORDINATION, DialectFrame("request", api, {}, body or {}))


def read_request(frame: bytes) -> tuple[str, dict[str, Any]]:
    """API and body of a frame without its size. Raises Malformed."""
    try:
        found = decode_frame(CENTRAL_COORDINATION, frame, "request")
    except LookupError as problem:
        raise Malformed("request_type_id", 0, str(problem)) from None
    return found.api, found.body


def response(
    api: str, error: str = "NONE", body: dict[str, Any] | None = None, *, offsets: bool = True
) -> bytes:
    """The bytes of a response, with its size. An error has no body; `offsets`: as the consumer
    registered with auto_commit."""
    if error != "NONE":
        return struct.pack(">ih", 2, CODES[error])
    kind = stop_fetcher_response(auto_commit=offsets) if api == "StopFetcher" else None
    header = {"error_code": 0}
    frame = DialectFrame("response", api, header, body or {}, kind)
    return encode_frame(CENTRAL_COORDINATION, frame)


def read_response(frame: bytes, api: str, *, offsets: bool = True) -> tuple[str, dict[str, Any]]:
    """Error and body of a frame without its size that answers this API. Raises Malformed.

    What follows an error is not looked at.
    """
    if len(frame) < 2:
        raise Malformed("header", 0, "the error code is cut off")
    error = error_name(_CODE.unpack_from(frame)[0])
    if error != "NONE":
        return error, {}
    kind = None
    if api == "StopFetcher":
        kind = StopFetcher.response.name if offsets else STOP_FETCHER_WITHOUT_OFFSETS.name
    return error, decode_frame(CENTRAL_COORDINATION, frame, "response", api=api, response=kind).body
