# ruff: noqa: E501 - a table of faults, one a line
"""The capture has both sides of every message that a fault altered, and what was decided of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.stream_framing import Framing, facts_of
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.specs import api
from barnabas.specs.frames import Direction, request_head
from tests.proxy.faults.given import produce
from tests.proxy.faults.test_all import records
from tests.proxy.frames import heartbeat_request, raw, request, response
from tests.proxy.playbook import Stage
from tests.proxy.recorded import Recorded

NODES: Final = [{"node_id": n, "host": "127.0.0.1", "port": 1 + n} for n in range(3)]
PARTITIONS: Final = [{"partition_index": 0, "leader_id": 1}]
VERSIONS: Final = [{"api_key": key, "min_version": 0, "max_version": 4} for key in (1, 3, 12, 18)]

TALK: Final[list[tuple[bytes, dict[str, Any]]]] = [
    (request("ApiVersions", 1, version=0), {"api_keys": VERSIONS}),
    (
        request("Metadata", 2),
        {"brokers": NODES, "topics": [{"name": "t", "partitions": PARTITIONS}]},
    ),
    (request("FindCoordinator", 3, key="g"), {"host": "127.0.0.1", "port": 1}),
    (
        request("ListOffsets", 4, topics=[{"name": "t", "partitions": [{"timestamp": 5}]}]),
        {"topics": [{"name": "t", "partitions": [{"timestamp": 6}]}]},
    ),
    (heartbeat_request(5), {}),
    (produce(6, 1, records()), {"responses": [{"name": "t", "partition_responses": [{}]}]}),
    (produce(7, 0, records()), {}),
    (heartbeat_request(8), {}),
]
"""What a client asks, one after the other, and what the broker answers."""


def answers(frame: bytes) -> bytes:
    """Return a broker's response to a request."""
    head = request_head(frame, 4, len(frame))
    if head.acks == 0:
        return b""
    body = {asked[8:12]: body for asked, body in TALK}.get(frame[8:12], {})
    return response(api(head.key).name, head.correlation_id, version=head.version, **body)


def talk(scenario: str, capture: Path) -> tuple[Recorded, bytes]:
    """Play a client and a broker to the end; return the capture and the bytes of the broker."""
    actor = Recorded(Stage(scenario), capture)
    reached, answered = 0, b""
    for frame, _ in TALK:
        actor.ask(frame)
        actor.stage.wait(10)
        for message in split(bytes(actor.sent["request"]))[reached:]:
            if not actor.aborted:
                reached += 1
                answered += (answer := answers(message))
                actor.answer(answer)
        actor.stage.wait(10)
        if actor.aborted:
            break
    actor.finish()
    return actor, answered


def split(data: bytes) -> list[bytes]:
    """Return the frames of a stream; the last may be cut off."""
    found = []
    while data:
        size = int.from_bytes(data[:4])
        found.append(data[: 4 + size])
        data = data[4 + size :]
    return found


def left(capture: Path, direction: Direction) -> tuple[list[bytes], list[dict[str, Any]]]:
    """Return the departed frames of a capture, in any order, and the comments on arrived ones."""
    framing = Framing()
    other = b""
    as_it_came: list[bytes] = []
    facts: list[dict[str, Any]] = []
    for event in CaptureReader(capture):
        if not isinstance(event, Chunk) or event.direction != direction:
            continue
        if event.flow == "left":
            other += event.data
            continue
        for frame in framing.feed(event.data, event.ts_ns, event.comments):
            facts.append(facts_of(frame))
            if "left" not in facts[-1]:
                as_it_came.append(raw(frame.data))
    return [*as_it_came, *split(other)], facts


def bodies(exchanges: list[Exchange]) -> list[tuple[Any, ...]]:
    return sorted(
        (x.correlation_id, x.api, x.rules, x.request_body, x.response_body) for x in exchanges
    )


ALTERS: Final = [
    ("{edit: {set: {member_id: x}}}", "Heartbeat", "request"),
    ("{edit: {set: {error_code: 7}}}", "Heartbeat", "response"),
    ("corrupt", "Heartbeat", "response"),
    ("{corrupt: {path: member_id}}", "Heartbeat", "request"),
    ("{corrupt: {path: 'topic_data[0].partition_data[0].records', crc: right}}", "Produce", "request"),
    ("duplicate", "Heartbeat", "request"),
    ("duplicate", "Produce", "request"),
    ("truncate", "Heartbeat", "request"),
    ("truncate", "Heartbeat", "response"),
    ("{respond: {error: 27}}", "Heartbeat", "request"),
    ("{respond: {body: {error_code: 27}}}", "Heartbeat", "response"),
    ("{inject: {api: Heartbeat, version: 1, correlation_id: 100}}", "Heartbeat", "request"),
    ("{inject: {api: Heartbeat, version: 1, direction: request, correlation_id: 100}}", "Produce", "response"),
    ("{skew: {by: -1h}}", "Produce", "request"),
    ("{skew: {by: 1h}}", "ListOffsets", "response"),
    ("{clamp: {versions: {Fetch: 1}}}", "ApiVersions", "response"),
    ("{steer: {leader: 2}}", "Metadata", "response"),
    ("{steer: {coordinator: 2}}", "FindCoordinator", "response"),
    ("{quota: 5ms}", "Heartbeat", "response"),
    ("[{edit: {set: {member_id: x}}}, {delay: 5ms}, duplicate]", "Heartbeat", "request"),
]  # fmt: skip


@pytest.mark.parametrize(("do", "name", "direction"), ALTERS)
def test_what_arrived_and_what_left_can_both_be_read_back(
    do: str, name: str, direction: Direction, tmp_path: Path
) -> None:
    capture = tmp_path / "c.pcapng"
    rule = f"{{name: alter, match: {{api: {name}, direction: {direction}}}, do: {do}}}"
    actor, answered = talk(f"version: 1\nrules: [{rule}]", capture)
    asked = b"".join(frame for frame, _ in TALK)
    assert asked.startswith(actor.arrived("request"))
    assert len(actor.arrived("request")) == len(asked) or actor.aborted
    assert actor.arrived("response") == answered
    altered = False
    ways: tuple[Direction, ...] = ("request", "response")
    for way in ways:
        came = actor.arrived(way)
        frames, facts = left(capture, way)
        assert Counter(frames) == Counter(split(bytes(actor.sent[way])))
        altered |= Counter(frames) != Counter(split(came))
        if way == direction:
            decided = [fact for fact in facts if "rules" in fact]
            assert decided
            assert all(fact["rules"] == ["alter"] and fact["what"] for fact in decided)
    assert altered
    assert bodies(actor.decoded()) == bodies(actor.done)
