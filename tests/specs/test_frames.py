"""What is read of a frame before its body, at every place where it may be cut."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas import specs
from barnabas.specs.frames import (
    Frame,
    Short,
    decode_frame,
    encode_frame,
    request_head,
    response_body,
)
from barnabas.specs.headers import request_header_version, response_header_version
from barnabas.specs.malformed import Malformed

KINDS = [
    (key, version)
    for key, _, _ in specs.REGISTRY
    for version in {specs.api(key).versions[0], specs.api(key).flexible, specs.api(key).versions[1]}
    if specs.api(key).versions[0] <= version <= specs.api(key).versions[1]
]


def asked(key: int, version: int, body: bytes = b"", tags: bytes = b"\0") -> bytes:
    head = struct.pack(">hhi", key, version, 77)
    kind = request_header_version(key, version)
    if kind >= 1:
        head += struct.pack(">h", 2) + b"me"
    if kind == 2:
        head += tags
    return head + body


@pytest.mark.parametrize(("key", "version"), KINDS)
def test_the_head_of_every_api(key: int, version: int) -> None:
    frame = asked(key, version, bytes(20))
    head = request_head(frame, 0, len(frame))
    client = None if (key, version) == (7, 0) else "me"
    assert head[:4] == (key, version, 77, client)
    assert head.body == len(frame) - 20
    assert (head.acks is not None) == (key == 0)


@pytest.mark.parametrize(("key", "version"), KINDS)
def test_the_schema_of_the_header_agrees(key: int, version: int) -> None:
    header: dict[str, Any] = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": 77,
    }
    if (key, version) != (7, 0):
        header["client_id"] = "me"
    frame = encode_frame(Frame("request", key, version, header, {}))
    unsaid = {name: header[name] for name in header if not name.startswith("request_api_")}
    assert encode_frame(Frame("request", key, version, unsaid, {})) == frame
    assert frame[4:].startswith(asked(key, version))
    assert struct.unpack_from(">i", frame)[0] == len(frame) - 4
    assert decode_frame(frame[4:], "request").header == header


@pytest.mark.parametrize("version", range(14))
@pytest.mark.parametrize("transactional_id", [None, "", "tx", "t" * 200])
@pytest.mark.parametrize("acks", [0, 1, -1])
def test_acks_of_every_version_of_produce(
    version: int, transactional_id: str | None, acks: int
) -> None:
    body: dict[str, Any] = {"acks": acks, "timeout_ms": 0x01020304, "topic_data": []}
    if version >= 3:
        body["transactional_id"] = transactional_id
    frame = asked(0, version, specs.api(0).request.codec(version).encode(body))
    head = request_head(frame, 0, len(frame))
    assert head.acks == acks
    needed = len(frame) - len(specs.api(0).request.codec(version).encode(body)) + 2
    if version >= 9:
        needed += 1 + len(transactional_id or "") + (len(transactional_id or "") > 126)
    elif version >= 3:
        needed += 2 + len(transactional_id or "")
    assert request_head(frame, 0, needed) == head
    for end in range(needed):
        with pytest.raises(Short):
            request_head(frame, 0, end)


@pytest.mark.parametrize(
    ("tags", "size"),
    [
        (b"\0", 1), (b"\x80\x00", 2), (b"\1\5\3abc", 6), (b"\2\0\0\1\1x", 6), (b"\1\x80\1\2ab", 6),
        # numbers of tags that are negative, and more bits than there are, as Kafka reads them
        (b"\1\xff\xff\xff\xff\x0f\0", 7), (b"\1\x80\x80\x80\x80\x08\1x", 8),
        (b"\x80\x80\x80\x80\x10", 5),
    ],
)  # fmt: skip
def test_tags_of_the_header_are_passed_over(tags: bytes, size: int) -> None:
    frame = asked(3, 9, b"body", tags)
    assert request_head(frame, 0, len(frame)).body == 12 + size
    answer = struct.pack(">i", 77) + tags + b"body"
    assert response_body(answer, 3, 9) == 4 + size


@pytest.mark.parametrize(
    ("frame", "path"),
    [
        (asked(3, 9, tags=b"\xff\xff\xff\xff\xff\xff"), "header._tags"),
        (asked(3, 9, tags=b"\xff\xff\xff\xff\x0f"), "-1 tagged fields"),
        (asked(3, 9, tags=b"\1\7\xff\xff\xff\xff\x0f"), "size -1 of tag 7"),
        (asked(0, 9, b"\xff\xff\xff\xff\xff\xff"), "transactional_id"),
    ],
)
def test_what_no_more_bytes_would_help_is_malformed(frame: bytes, path: str) -> None:
    with pytest.raises(Malformed, match=path):
        request_head(frame, 0, len(frame))


@pytest.mark.parametrize("end", range(8))
def test_controlled_shutdown_v0_has_no_client_id(end: int) -> None:
    frame = struct.pack(">hhi", 7, 0, 77) + struct.pack(">i", 5)
    assert request_head(frame, 0, len(frame)) == (7, 0, 77, None, 8, None)
    assert request_head(frame, 0, 8).body == 8
    with pytest.raises(Short):
        request_head(frame, 0, end)


@pytest.mark.parametrize(("key", "version"), [*KINDS, (18, 3), (18, 4)])
def test_the_header_of_every_response(key: int, version: int) -> None:
    tags = b"\0" if response_header_version(key, version) else b""
    assert response_body(struct.pack(">i", 77) + tags + b"body", key, version) == 4 + len(tags)
    assert not (key == 18 and tags), "ApiVersions is answered before a version is agreed on"


def test_a_response_does_not_say_what_it_answers() -> None:
    with pytest.raises(TypeError, match="key and version"):
        decode_frame(bytes(8), "response")


@given(st.binary(max_size=40), st.sampled_from([b"", b"\0\0\0\x09", b"\0\3\0\x09", b"\0\7\0\0"]))
def test_any_bytes_give_a_head_or_the_documented_errors(data: bytes, start: bytes) -> None:
    frame = start + data
    try:
        head = request_head(frame, 0, len(frame))
    except (Short, Malformed):
        return
    assert 8 <= head.body <= len(frame)
