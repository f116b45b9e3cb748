"""Plain packets, which are read faster, give what others give."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import SYN
from tests.captures.network import (
    Conversation,
    Habits,
    as_pcap,
    as_pcapng,
    conversations,
    interleaved,
    moved,
    sent,
    wrapped,
)
from tests.captures.traffic import Said, produce, request, response, talk

pytestmark = pytest.mark.filterwarnings("ignore")


def large(first: int, random: Random) -> list[Said]:
    """Requests and responses that need many packets."""
    said: list[Said] = []
    for number in range(first, first + 8):
        records = {"partition_index": 0, "records": random.randbytes(30_000)}
        topics = [{"topic": "orders", "partitions": [records]}]
        said += [
            ("request", produce(number, random.randbytes(60_000))),
            ("request", request(number + 100, 1, 4)),
            ("response", response(number, 0, 7)),
            ("response", response(number + 100, 1, 4, responses=topics)),
        ]
    return said


Whole = tuple[Any, ...]


def everything(path: Path) -> tuple[Whole, list[Whole]]:
    """What a reader has counted, and all of every exchange."""
    conversations, reader = Conversations(), CaptureReader(path)
    exchanges = list(conversations.exchanges(reader))
    counts = (
        *(reader.packets.cut, reader.truncated, dict(reader.left_out)),
        *(conversations.undecoded, conversations.skipped, conversations.losses),
    )
    whole = [(x, x.request_packet, x.response_packet, x.ordinal, x.losses) for x in exchanges]
    return counts, whole


@pytest.mark.slow("a long property")
@pytest.mark.parametrize("late", [0, 8])
@pytest.mark.parametrize(("order", "tick"), [("<", 1), (">", 1000)])
def test_plain_packets_give_what_others_give(
    tmp_path: Path, order: str, tick: int, late: int
) -> None:
    """Megabytes, so that the bounds of every buffer fall anywhere. Plain packets, and none that is plain:
    with a comment at each, with VLANs, between others; and the plain ones packed."""
    random = Random(f"{order}{late}")
    talks = [
        replace(one, said=[*one.said, *large(90_000, random), *talk(5000, 10)])
        for one in conversations(4, 2**32 - 100_000, rounds=30)
    ]
    habits = Habits(0.05, 0.05, 0.2)
    sizes = [1448, 1448, 700, 65_000, 1448, 90, 20, 1, 1448]
    each = [sent(one, sizes[at:] + sizes[:at], random, habits) for at, one in enumerate(talks)]
    segments = moved(interleaved(each, random), late, random)
    plain = [wrapped(one, "ethernet", random) for one in segments]
    path = as_pcap(tmp_path / "plain", plain, "ethernet", order, tick)
    assert path.stat().st_size > 3_000_000
    counts, exchanges = everything(path)
    assert counts == (0, False, {}, 0, 0, 0)
    frames = sum(direction == "request" for one in talks for direction, _ in one.said)
    assert len(exchanges) == frames
    for one in talks:
        ends = frame_ends(one)
        for x, asked, came, *_ in exchanges:
            if x.client_address == f"10.0.0.1:{one.client[1]}":
                packets = [("request", asked)] + [("response", came)] * (came > 0)
                for direction, packet in packets:
                    segment = segments[packet - 1]
                    isn = one.isn[direction == "response"]
                    begin = (segment.seq + bool(segment.flags & SYN) - isn - 1) % 2**32
                    end = ends[direction, x.correlation_id]
                    assert begin < end <= begin + len(segment.payload)
    named = [("ethernet", data) for data in plain]
    (tmp_path / "gz").write_bytes(gzip.compress(path.read_bytes(), 1))
    for other in (
        tmp_path / "gz",
        as_pcapng(tmp_path / "ng", named, order),
        as_pcapng(tmp_path / "comments", named, order, "note"),
        as_pcap(tmp_path / "vlan", map(tagged, plain), "vlan", order, tick),
    ):
        assert everything(other) == (counts, exchanges)
    noisy = as_pcap(tmp_path / "noisy", split(plain), "ethernet", order, tick)
    _, found = everything(noisy)
    assert [(x.client_address, x.correlation_id, x.response_body) for x, *_ in found] == [
        (x.client_address, x.correlation_id, x.response_body) for x, *_ in exchanges
    ]
    assert [asked // 3 for _, asked, *_ in found] == [asked - 1 for _, asked, *_ in exchanges]


def frame_ends(one: Conversation) -> dict[tuple[str, int], int]:
    """By direction and correlation id: how far the stream reaches with a frame."""
    reached: Counter[str] = Counter()
    ends: dict[tuple[str, int], int] = {}
    for direction, data in one.said:
        reached[direction] += len(data)
        at = 8 if direction == "request" else 4
        ends[direction, int.from_bytes(data[at : at + 4])] = reached[direction]
    return ends


def tagged(data: bytes) -> bytes:
    """Ethernet in a VLAN."""
    return data[:12] + b"\x81\0\0\7" + data[12:]


def split(packets: list[bytes]) -> Iterator[bytes]:
    """Each packet as the second of three: another one before it, a broken one behind it."""
    for data in packets:
        yield bytes(12) + b"\x08\x06" + bytes(46)
        yield data
        yield data[:30]
