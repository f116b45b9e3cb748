"""What answers requests that were not captured is found by its size and told by what fits."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captures import inference
from captures.inference import Inferred, inferred
from specs.keys import FETCH, HEARTBEAT, JOIN_GROUP, METADATA
from tests.captures.traffic import response

FETCHED = response(
    41,
    FETCH,
    12,
    responses=[{"topic": "orders", "partitions": [{"partition_index": 3, "high_watermark": 99}]}],
)
JOINED = response(42, JOIN_GROUP, 5, generation_id=7, leader="a", member_id="a", members=[])


def gist(found: list[Inferred]) -> list[tuple[int, int, int]]:
    return [(one.key, one.version, one.correlation_id) for one in found]


def test_what_the_connection_uses_is_what_it_is() -> None:
    (found,) = inferred(b"the end of another" + FETCHED, 42, [(FETCH, 12), (METADATA, 9)])
    assert (found.key, found.version, found.correlation_id) == (FETCH, 12, 41)
    assert found.end == 18 + len(FETCHED)
    assert FETCHED.endswith(found.body)


def test_several_in_a_row() -> None:
    found = inferred(b"\0\0\0" + FETCHED + JOINED, 43, [(FETCH, 12), (JOIN_GROUP, 5)])
    assert gist(found) == [(FETCH, 12, 41), (JOIN_GROUP, 5, 42)]
    assert [one.end for one in found] == [3 + len(FETCHED), 3 + len(FETCHED) + len(JOINED)]


def test_what_nothing_else_fits_needs_no_request_like_it() -> None:
    (found,) = inferred(JOINED, 43, [(METADATA, 9)])
    assert (found.key, found.correlation_id) == (JOIN_GROUP, 42)


def test_what_fits_several_apis_is_not_guessed() -> None:
    short = response(42, HEARTBEAT, 1)
    assert inferred(short, 43, [(METADATA, 9)]) == []
    assert gist(inferred(short, 43, [(HEARTBEAT, 1)])) == [(HEARTBEAT, 1, 42)]


@pytest.mark.parametrize("known", [41, 7, 41 + 20_000])
def test_correlation_ids_are_shortly_before_the_next_one(known: int) -> None:
    assert inferred(FETCHED, known, [(FETCH, 12)]) == []


def test_no_more_are_looked_for_than_some() -> None:
    count = inference.MOST + 3
    data = b"".join(response(n, HEARTBEAT, 1) for n in range(count))
    found = inferred(data, count, [(HEARTBEAT, 1)])
    assert [one.correlation_id for one in found] == list(range(3, count))


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
        assert data[one.begin : end].endswith(one.body)
        end = one.begin


def test_a_large_one_is_found() -> None:
    large = response(
        41,
        FETCH,
        4,
        responses=[
            {
                "topic": "orders",
                "partitions": [{"partition_index": 0, "records": bytes(700_000)}],
            }
        ],
    )
    assert gist(inferred(b"x" * 1000 + large, 42, [(FETCH, 4)])) == [(FETCH, 4, 41)]
