"""Test that responses to uncaptured requests are found by size, and identified by what fits."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.framing.frame_resync import FrameResync
from barnabas.captures.kafka.framing.inference import Inferred, inferred
from barnabas.captures.kafka.framing.stream_framing import Framing
from barnabas.captures.reader import CaptureReader
from barnabas.specs.keys import FETCH, HEARTBEAT, JOIN_GROUP, METADATA
from tests.captures.traffic import BROKER, NOW, Said, capture, request, response, segments

# correlation ids are negative after 2**31 requests
FETCHED = response(
    -44,
    FETCH,
    12,
    responses=[{"topic": "orders", "partitions": [{"partition_index": 3, "high_watermark": 99}]}],
)
JOINED = response(-43, JOIN_GROUP, 5, generation_id=7, leader="a", member_id="a", members=[])


def gist(found: list[Inferred]) -> list[tuple[int, int, int]]:
    return [(one.layout.key, one.layout.version, one.correlation_id) for one in found]


def test_what_nothing_else_fits_needs_no_request_like_it() -> None:
    (found,) = inferred(JOINED, -42, [(METADATA, 9)])
    assert (found.layout.key, found.correlation_id) == (JOIN_GROUP, -43)


def test_what_fits_several_apis_is_not_guessed() -> None:
    short = response(-43, HEARTBEAT, 1)
    assert inferred(short, -42, [(METADATA, 9)]) == []
    assert gist(inferred(short, -42, [(HEARTBEAT, 1)])) == [(HEARTBEAT, 1, -43)]


@pytest.mark.parametrize("known", [-44, -77, -44 + 20_000])
def test_correlation_ids_are_shortly_before_the_next_one(known: int) -> None:
    assert inferred(FETCHED, known, [(FETCH, 12)]) == []


@given(
    st.binary(max_size=30),
    st.binary(min_size=0, max_size=700),
    st.sampled_from([b"", FETCHED, JOINED]),
)
def test_any_bytes_give_frames_that_stand_there(before: bytes, body: bytes, after: bytes) -> None:
    data = before + struct.pack(">ii", len(body) + 4, 40) + body + after
    end = len(data)
    for one in reversed(inferred(data, 50, [(FETCH, 12)])):
        size, correlation_id = struct.unpack_from(">ii", data, one.begin)
        assert (one.end, one.begin + 4 + size) == (end, end)
        assert correlation_id == one.correlation_id < 50
        assert data[one.begin : end].endswith(one.layout.body)
        end = one.begin


@pytest.mark.parametrize("size", [300, 700_000])
def test_a_large_one_is_found(size: int) -> None:
    partitions = [{"partition_index": 0, "records": bytes(size)}]
    large = response(41, FETCH, 4, responses=[{"topic": "orders", "partitions": partitions}])
    assert gist(inferred(b"x" * 1000 + large, 42, [(FETCH, 4)])) == [(FETCH, 4, 41)]


def begun_in_the_middle(path: Path, sizes: int) -> Path:
    """Write a capture that begins after two requests: with their responses, and later requests."""
    said: list[Said] = [
        ("request", request(-44, FETCH, 12)),
        ("request", request(-43, JOIN_GROUP, 5)),
        ("response", FETCHED),
        ("response", JOINED),
        ("request", request(-42, FETCH, 12)),
        ("response", response(-42, FETCH, 12)),
        ("request", request(-41, METADATA, 9)),
        ("response", response(-41, METADATA, 9)),
    ]
    whole = segments(said, itertools.repeat(sizes))
    asked = sum(len(data) for _, data in said[:2])
    first = next(at for at, one in enumerate(whole) if one.source == BROKER and one.payload)
    assert sum(len(one.payload) for one in whole[:first]) == asked
    return capture(path, whole[first:])


@pytest.mark.parametrize("sizes", [1448, 30, 7, 1])
def test_a_capture_that_begins_behind_requests_shows_their_answers(
    tmp_path: Path, sizes: int
) -> None:
    reader = CaptureReader(begun_in_the_middle(tmp_path / "f", sizes))
    conversations = Conversations(inferred=True)
    found = list(conversations.exchanges(reader))
    assert [(one.key, one.version, one.correlation_id, one.inferred) for one in found] == [
        (FETCH, 12, -44, True),
        (JOIN_GROUP, 5, -43, True),
        (FETCH, 12, -42, False),
        (METADATA, 9, -41, False),
    ]
    assert (found[0].request, found[1].response["leader"]) == (None, "a")  # type: ignore[index]
    last = (len(FETCHED) - 1) // sizes + 1, (len(FETCHED + JOINED) - 1) // sizes + 1
    assert (found[0].response_packet, found[1].response_packet) == last
    assert last[1] < found[2].request_packet
    assert found[0].ordinal < 0
    assert found[0].ts == NOW + (found[0].response_packet - 1) * 1_000_000
    assert conversations.skipped == 0


def test_who_does_not_ask_for_them_gets_what_was_asked_for_alone(tmp_path: Path) -> None:
    conversations = Conversations()
    path = begun_in_the_middle(tmp_path / "f", 30)
    found = [exchange.correlation_id for exchange in conversations.exchanges(CaptureReader(path))]
    assert found == [-42, -41]
    assert conversations.skipped == len(FETCHED + JOINED)


def test_what_is_kept_of_what_was_passed_over_is_bounded() -> None:
    framing = Framing(search=FrameResync(dict), keeps=90)
    framing.lose(0)
    for at in range(50):
        assert not list(framing.feed(bytes([at]) * 30, at))
    data, ends = framing.take_passed()
    assert len(data) == 90
    assert ends[-1][0] == len(data)
