"""Frames of requests and responses, and how their bytes may come."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas.specs import api
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.headers import request_header_version, response_header_version

Chunks = Callable[[bytes], Iterator[bytes]]


def request(
    name: str, correlation_id: int, *, version: int = 1, client: str = "me", **body: Any
) -> bytes:
    """Return a whole request frame."""
    found = api(name)
    header = {
        "request_api_key": found.key,
        "request_api_version": version,
        "correlation_id": correlation_id,
    }
    if request_header_version(found.key, version):
        header["client_id"] = client  # type: ignore[assignment]
    return encode_frame(Frame("request", found.key, version, header, body))


def response(name: str, correlation_id: int, *, version: int = 1, **body: Any) -> bytes:
    """Return a whole response frame."""
    key = api(name).key
    assert response_header_version(key, version) in (0, 1)
    header = {"correlation_id": correlation_id}
    return encode_frame(Frame("response", key, version, header, body))


def heartbeat_request(number: int, **fields: Any) -> bytes:
    """Return a Heartbeat request of member m of group g, or with other fields."""
    member: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}
    return request("Heartbeat", number, **(member | fields))


def heartbeat_response(number: int, error: int = 0) -> bytes:
    """Return a Heartbeat response."""
    return response("Heartbeat", number, error_code=error)


def commit_request(number: int) -> bytes:
    """Return an OffsetCommit request of group g."""
    return request("OffsetCommit", number, version=2, group_id="g")


def commit_response(number: int) -> bytes:
    """Return an OffsetCommit response."""
    return response("OffsetCommit", number, version=2)


def leave_request(number: int) -> bytes:
    """Return a LeaveGroup request of member m of group g."""
    return request("LeaveGroup", number, group_id="g", member_id="m")


def groups_request(number: int) -> bytes:
    """Return a ListGroups request."""
    return request("ListGroups", number, version=0)


def groups_response(number: int) -> bytes:
    """Return a ListGroups response."""
    return response("ListGroups", number, version=0)


def raw(payload: bytes) -> bytes:
    """Return a frame of any bytes."""
    return struct.pack(">i", len(payload)) + payload


def whole(data: bytes) -> Iterator[bytes]:
    """All at once."""
    yield data


def bytewise(data: bytes) -> Iterator[bytes]:
    """Byte by byte."""
    for at in range(len(data)):
        yield data[at : at + 1]


def trailing(data: bytes) -> Iterator[bytes]:
    """Each frame together with the first five bytes of the next."""
    start = at = 0
    while at + 4 <= len(data):
        at += 4 + int.from_bytes(data[at : at + 4])
        yield data[start : at + 5]
        start = at + 5
    if start < len(data):
        yield data[start:]


slicings = pytest.mark.parametrize("chunks", [whole, bytewise, trailing])
"""For a test that is given `chunks`: it runs with each."""
