"""The hot path does what the careful one does: same bytes, same pairing, same counts."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.connection.actions import PASS
from barnabas.specs.frames import Direction
from tests.proxy.frames import (
    Chunks,
    bytewise,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
    whole,
)
from tests.proxy.playbook import Actor, Stage

NEIGHBOUR = {"node_id": 4, "host": "reals", "port": 9092}
"""Its address is as long as that which takes its place: long responses are changed as short ones."""

BROKERS = [{"node_id": 3, "host": "real", "port": 9092}]


def produce(number: int, acks: int) -> bytes:
    topics = [{"name": "t" * 200, "partition_data": []}]
    return request("Produce", number, version=9, acks=acks, topic_data=topics)


def exchange(kind: str, number: int) -> tuple[bytes, bytes]:
    """Return a request and the broker's response to it."""
    match kind:
        case "heartbeat":
            return heartbeat_request(number), heartbeat_response(number)
        case "produce":
            return produce(number, 1), response("Produce", number, version=9)
        case "fire and forget":
            return produce(number, 0), b""
        case "metadata":
            answer = response("Metadata", number, version=12, brokers=BROKERS)
            return request("Metadata", number, version=12), answer
        case "fetch" | "moved" | "short":
            nodes = [] if kind == "fetch" else [NEIGHBOUR]
            topics = [{"partitions": [{"records": b"r" * (10 if kind == "short" else 500)}]}]
            answer = response("Fetch", number, version=16, responses=topics, node_endpoints=nodes)
            return request("Fetch", number, version=16), answer
        case "unknown":
            asked = raw(struct.pack(">hhih", 999, 7, number, -1) + b"anything")
            return asked, raw(struct.pack(">i", number) + b"z" * 300)
        case "shutdown":
            asked = request("ControlledShutdown", number, version=0, broker_id=1)
            return asked, response("ControlledShutdown", number, version=0)
        case "overlong":  # no topics in two bytes, a boolean of 7
            frame = request("Metadata", number, version=9, topics=[])[4:-5] + b"\x81\0\x07\0\0\0"
            return raw(frame), response("Metadata", number, version=9)
        case "empty":
            return raw(b""), raw(b"")
        case _:
            return raw(b"\0\x0c\0\0"), raw(b"not a frame that anybody reads")


ODD = ("unknown", "shutdown", "overlong", "empty", "odd")
KINDS = ("heartbeat", "produce", "fire and forget", "metadata", "fetch", "moved", "short", *ODD)


def in_slices(steps: list[int]) -> Chunks:
    def sliced(data: bytes) -> Iterator[bytes]:
        at = turn = 0
        while at < len(data):
            step = steps[turn % len(steps)]
            yield data[at : at + step]
            at, turn = at + step, turn + 1

    return sliced


def run(observed: bool, rounds: list[list[str]], chunks: Chunks) -> Actor:
    """Each round is asked at once and answered 5 ms later than the one before it."""
    actor = Stage(observed=observed, whole=300).actor()
    number, sent = 0, b""
    for turn, kinds in enumerate(rounds):
        frames = [exchange(kind, number + n) for n, kind in enumerate(kinds)]
        number += len(kinds)
        asked = b"".join(asked for asked, _ in frames)
        sent += asked
        actor.ask(asked, chunks)
        actor.stage.wait(5 + 5 * turn)
        actor.answer(b"".join(answer for _, answer in frames), chunks)
    assert actor.sent["request"] == sent
    return actor


@given(
    st.lists(st.lists(st.sampled_from(KINDS), max_size=8), min_size=1, max_size=6),
    st.lists(st.integers(1, 400), min_size=1, max_size=5),
)
def test_both_paths_agree_on_any_traffic_in_any_slices(
    rounds: list[list[str]], steps: list[int]
) -> None:
    rounds = [["heartbeat"], *rounds]  # what comes first is never skimmed
    runs = [
        run(observed, rounds, chunks)
        for observed in (True, False)
        for chunks in (whole, in_slices(steps))
    ]
    for actor in runs:
        assert actor.sent == runs[0].sent
        assert actor.stage.tally.rows() == runs[0].stage.tally.rows()
        assert actor.stage.totals == runs[0].stage.totals
        assert actor.connection.idle
        for direction, ingress in actor.connection.state.ingress.items():
            assert ingress.frames == runs[0].connection.state.ingress[direction].frames
    assert sum(row.count for row in runs[0].stage.tally.rows()) == sum(map(len, rounds))


def warm() -> Actor:
    """Return a connection on which both directions pass unread."""
    actor = Stage(observed=False).actor()
    for number in range(2):
        actor.ask(heartbeat_request(number))
        actor.answer(heartbeat_response(number))
    return actor


@pytest.mark.parametrize("cut", range(1, len(heartbeat_response(2))))
def test_a_frame_that_is_skimmed_in_part_is_counted_once(cut: int) -> None:
    actor = warm()
    actor.ask(heartbeat_request(2))
    actor.answer(heartbeat_response(2)[:cut])
    actor.ask(raw(struct.pack(">hhih", 18, 77, 3, 2) + b"me\0"))  # ends the skimming
    actor.answer(heartbeat_response(2)[cut:])
    actor.answer(response("ApiVersions", 3, version=0))
    assert actor.ids("response") == [0, 1, 2, 3]
    assert actor.counts == {"Heartbeat": 3, "ApiVersions": 1}


@pytest.mark.parametrize("acks", [0, 1])
@pytest.mark.parametrize("cut", [5, 17, 22, 100])
def test_a_request_that_is_skimmed_in_part_is_counted_once(cut: int, acks: int) -> None:
    actor = warm()
    actor.ask(produce(2, acks)[:cut])
    actor.answer(raw(b"??"))  # not skimmed
    actor.ask(produce(2, acks)[cut:] + produce(3, acks))
    assert actor.waiting == [2, 3] * acks
    actor.close()
    assert actor.counts == {"Heartbeat": 2, "Produce": 2}


def chunks_forwarded(actor: Actor, direction: Direction, data: bytes) -> bool:
    """Whether a chunk passes untouched, as one."""
    before = actor.untouched
    actor.feed(direction, data)
    return actor.untouched > before


def test_frames_of_a_chunk_leave_as_one_piece_though_they_are_looked_at() -> None:
    actor = Stage().actor()
    frames: dict[Direction, Any] = {"request": heartbeat_request, "response": heartbeat_response}
    for direction, frame in frames.items():
        data = b"".join(map(frame, range(3)))
        actor.feed(direction, data)
        assert actor.times[direction] == [(0.0, data)]
    assert not actor.untouched


def test_a_response_that_may_end_with_addresses_is_skimmed_if_it_has_none() -> None:
    actor = Stage(observed=False).actor()
    passed = []
    for number in range(3):
        asked, answer = exchange("fetch", number)
        actor.ask(asked)
        passed.append(chunks_forwarded(actor, "response", answer))
    assert passed == [False, True, True]


def test_latencies_of_responses_that_are_skimmed_are_those_of_each_request() -> None:
    actor = warm()
    actor.ask(heartbeat_request(2))
    actor.stage.wait(5)
    actor.ask(heartbeat_request(3))
    actor.stage.wait(7)
    assert chunks_forwarded(actor, "response", heartbeat_response(2) + heartbeat_response(3))
    (row,) = actor.stage.tally.rows()
    assert (row.count, row.max_ms) == (4, 12.0)


def test_skimming_stops_reading_when_too_many_wait() -> None:
    actor = Stage(observed=False, waiting=3).actor()
    actor.ask(heartbeat_request(0))
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    assert actor.connection.full("request")
    actor.answer(heartbeat_response(0))
    assert not actor.connection.full("request")
    data = memoryview(heartbeat_request(3) + heartbeat_request(4))
    assert actor.connection.receive("request", data, 0) is not PASS  # so the relay looks


@pytest.mark.parametrize("chunks", [whole, bytewise])
def test_garbage_behind_frames_that_are_skimmed_is_named(chunks: Chunks) -> None:
    actor = warm()
    actor.ask(heartbeat_request(2) + b"GET / HTTP/1.1\r\n\r\n", chunks)
    assert actor.aborted
    assert actor.ids("request") == [0, 1, 2]
    assert "speaks HTTP" in actor.said[0]


# what is observed may change while frames are under way


@pytest.mark.parametrize("cut", range(1, 60, 7))
@slicings
def test_observing_begins_and_ends_anywhere_in_a_frame(cut: int, chunks: Chunks) -> None:
    actor = Stage(observed=False).actor()
    asked, answered = (
        b"".join(map(frame, range(4))) for frame in (heartbeat_request, heartbeat_response)
    )
    for wanted, part in enumerate((asked[:cut], asked[cut : cut + 40], asked[cut + 40 :])):
        actor.ask(part, chunks)
        actor.stage.observe(wanted == 0)
    half = cut // 2
    actor.answer(answered[:half], chunks)
    actor.stage.observe(True)
    actor.answer(answered[half:], chunks)
    assert actor.sent == {"request": asked, "response": answered}
    assert actor.counts == {"Heartbeat": 4}, "each is counted once"
    assert not actor.stage.totals.undecoded
    assert actor.connection.idle


def test_exchanges_are_reported_while_somebody_looks() -> None:
    actor = Stage(observed=False).actor()
    for number, wanted in ((1, False), (2, True), (3, False)):
        actor.stage.observe(wanted)
        actor.ask(heartbeat_request(number))
        actor.answer(heartbeat_response(number))
    assert [exchange.correlation_id for exchange in actor.done] == [2]
    assert actor.done[0].request is not None
