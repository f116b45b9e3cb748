"""Test the search for the next frame in the middle of a stream."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.framing.frame_resync import FrameResync
from tests.captures.traffic import request, response

ASK = request(7, 3, 1, topics=[{"name": "orders"}])
ANSWER = response(7, 3, 1, controller_id=5)


def look(search: FrameResync, data: bytes, sizes: int) -> tuple[int | None, int]:
    """Return where it found a frame in data that arrived in pieces, and how much had arrived by then."""
    passed = 0
    for at in range(0, len(data), sizes):
        place = search.feed(data[at : at + sizes])
        passed += place.offset
        if place.begins:
            return passed, min(len(data), at + sizes)
    return None, len(data)


@given(st.binary(max_size=60), st.integers(1, 200))
def test_a_request_behind_anything(noise: bytes, sizes: int) -> None:
    data = noise + ASK + b"\xff" * 5
    at, _ = look(FrameResync(), data, sizes)
    assert at == len(noise)


@given(st.binary(max_size=60), st.integers(1, 200))
def test_a_response_behind_anything(noise: bytes, sizes: int) -> None:
    search = FrameResync(lambda: {7: (3, 1), 1000: (12, 0)})
    at, come = look(search, noise + ANSWER + b"\xff" * 5, sizes)
    assert at == len(noise)
    assert come < len(noise) + len(ANSWER) + sizes


def test_what_only_looks_like_one_holds_nothing_up() -> None:
    """A place that promises a megabyte is given up for a frame that is whole."""
    promise = bytes.fromhex("00100000 0003 0001 00000007 0001 61")
    assert look(FrameResync(), promise + ASK, 10)[0] == len(promise)
    many = promise * 100  # more than are remembered: those that end first are
    assert look(FrameResync(), many + ASK, len(many) + len(ASK) - 1)[0] == len(many)


@pytest.mark.parametrize(
    "data",
    [
        ASK[:6] + b"\0\x63" + ASK[8:],  # a version that there is not
        ASK[:14] + b"\0" + ASK[15:],  # a client id that nobody has
        ASK[:3] + bytes([ASK[3] - 1]) + ASK[4:-1],
        bytes(1000),
        b"\0\0\0\x08\xff\xff\xff\xfe\0\0\0\x0b",
    ],
)
def test_what_is_no_request(data: bytes) -> None:
    assert look(FrameResync(), data, 1000)[0] is None
    assert look(FrameResync(), data, 7)[0] is None


@pytest.mark.parametrize(("size", "at"), [(512, 0), (513, None)])
def test_a_client_id_is_no_longer_than_512_characters(size: int, at: int | None) -> None:
    data = struct.pack(">ihhih", 10 + size, 18, 0, 7, size) + b"m" * size
    assert look(FrameResync(), data, 1000)[0] == at


def test_a_response_to_nobody() -> None:
    assert look(FrameResync(lambda: {8: (3, 1)}), ANSWER, 100)[0] is None
    assert look(FrameResync(dict), ANSWER, 100)[0] is None
    assert look(FrameResync(lambda: {7: (18, 0)}), ANSWER, 100)[0] is None
