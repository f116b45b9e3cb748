# ruff: noqa: E501 - a table of faults, one a line
"""The capture has both sides of every message that a fault altered, and what was decided of it."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.stream_framing import Framing, facts_of
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.loop import run
from barnabas.specs import api
from barnabas.specs.frames import Direction, request_head
from tests.proxy.faults.given import produce
from tests.proxy.faults.test_all import records
from tests.proxy.frames import heartbeat_request, raw, request, response
from tests.proxy.servers import SOON, read_frame, running

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


@dataclass
class Seen:
    """The bytes at both ends of one connection, and the exchanges that the log had."""

    asked: bytearray = field(default_factory=bytearray)
    reached: bytearray = field(default_factory=bytearray)
    answered: bytearray = field(default_factory=bytearray)
    got: bytearray = field(default_factory=bytearray)
    done: list[Exchange] = field(default_factory=list)


async def talk(scenario: str, capture: Path) -> Seen:
    """A client and a broker through a proxy, until the talk is over or cut off."""
    seen = Seen()
    bodies = {frame[8:12]: body for frame, body in TALK}

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        buffer = bytearray()
        while chunk := await reader.read(1 << 16):
            seen.reached += chunk
            buffer += chunk
            while len(buffer) >= 4 and len(buffer) >= 4 + struct.unpack_from(">i", buffer)[0]:
                frame = bytes(buffer[: 4 + struct.unpack_from(">i", buffer)[0]])
                del buffer[: len(frame)]
                head = request_head(frame, 4, len(frame))
                if head.acks == 0:
                    continue
                body = bodies.get(frame[8:12], {}) if head.correlation_id < 100 else {}
                name = api(head.key).name
                answer = response(name, head.correlation_id, version=head.version, **body)
                seen.answered += answer
                writer.write(answer)
        writer.close()

    async with running(broker, scenario, capture, drain=0.05, observed=True) as it:
        reader, writer = await it.connect()
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async with asyncio.timeout(SOON):
                for frame, _ in TALK:
                    seen.asked += frame
                    writer.write(frame)
                    if frame is not TALK[6][0]:  # nobody answers that
                        seen.got += raw(await read_frame(reader))
                writer.write_eof()  # the broker answers by its own, behind all that it has sent
                seen.got += await reader.read()
        writer.close()
    seen.done = it.done
    return seen


def split(data: bytes) -> list[bytes]:
    """The frames in a stream; the last may be cut off."""
    found = []
    while data:
        size = struct.unpack_from(">i", data)[0] if len(data) >= 4 else 0
        found.append(data[: 4 + size])
        data = data[4 + size :]
    return found


def sides(capture: Path, direction: Direction) -> tuple[bytes, list[bytes], list[dict[str, Any]]]:
    """What a capture says that arrived, that left (in any order), and of each frame that arrived."""
    framing = Framing()
    arrived, other = bytearray(), bytearray()
    as_it_came: list[bytes] = []
    facts: list[dict[str, Any]] = []
    for event in CaptureReader(capture):
        if not isinstance(event, Chunk) or event.direction != direction:
            continue
        if event.flow == "left":
            other += event.data
            continue
        arrived += event.data
        for frame in framing.feed(event.data, event.ts_ns, event.comments):
            facts.append(facts_of(frame))
            if "left" not in facts[-1]:
                as_it_came.append(raw(frame.data))
    return bytes(arrived), [*as_it_came, *split(bytes(other))], facts


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
    seen = run(talk(f"version: 1\nrules: [{rule}]", capture))
    requests, to_broker, asked = sides(capture, "request")
    responses, to_client, answered = sides(capture, "response")
    assert requests == bytes(seen.asked)
    assert responses == bytes(seen.answered)
    assert Counter(to_broker) == Counter(split(bytes(seen.reached)))
    missing = Counter(to_client) - Counter(split(bytes(seen.got)))
    if "truncate" in do and direction == "response":  # the client reads whole frames only
        ((cut, _),) = missing.items()
        assert any(frame.startswith(cut) for frame in split(responses))
    else:
        assert not missing
    assert not Counter(split(bytes(seen.got))) - Counter(to_client)
    # both sides differ, and every decision is there
    assert Counter(to_broker + to_client) != Counter(split(requests) + split(responses))
    decided = [
        facts for facts in (asked if direction == "request" else answered) if "rules" in facts
    ]
    assert decided
    assert all(facts["rules"] == ["alter"] and facts["what"] for facts in decided)

    def bodies(exchanges: list[Exchange]) -> list[tuple[Any, ...]]:
        return sorted(
            (x.correlation_id, x.api, x.rules, x.request_body, x.response_body) for x in exchanges
        )

    read = list(Conversations().exchanges(CaptureReader(capture)))
    assert bodies(read) == bodies(seen.done)
