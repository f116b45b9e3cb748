"""Test captures of one direction only: requests without responses, and responses without requests."""

from __future__ import annotations

import itertools
import struct
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing import frame_resync, inference
from barnabas.captures.kafka.notes import INFERRED, NOT_CAPTURED, UNANSWERED
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import SYN, TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.specs.frames import Direction
from tests.captures.conversion.given import converted
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    Said,
    ip_packet,
    response,
    segments,
    talk,
    write_pcap,
)
from tests.pipeline.samples import SAMPLES
from tests.pipeline.stages import in_memory, sequential

SAMPLES_BY_NAME = {path.name: path for path in SAMPLES}
NAMES = {"rebalance.pcap.gz": 0, "old-formats.pcap": 1}
"""Samples, and how many of their connections have no response that can be of one API only."""


def one_direction(path: Path, of: Iterable[TcpSegment], kept: Direction) -> Path:
    """Write the segments that clients, or brokers, sent; a first SYN tells who the broker is."""
    brokers, packets = set(), []
    for segment in of:
        if segment.flags & SYN and segment.target not in brokers and segment.ack == 0:
            brokers.add(segment.target)
        if (segment.source in brokers) == (kept == "response"):
            packets.append(ip_packet(segment))
    return write_pcap(path, packets)


def of_sample(name: str) -> list[TcpSegment]:
    """Return the segments of a sample."""
    reader, packets = CaptureReader(SAMPLES_BY_NAME[name]), Packets()
    captured = [
        packets.tcp_segment(packet.linktype, packet.data)
        for _, _, packet in reader.numbered_packets()
    ]
    return [segment for segment in captured if segment is not None]


def exchanges(path: Path) -> list[Exchange]:
    """Return what `decode` shows."""
    return list(open_capture(path).exchanges(inferred=True))


def identity(exchange: Exchange) -> tuple[str, int, str]:
    return exchange.client_address, exchange.correlation_id, exchange.api


@pytest.mark.parametrize("name", NAMES)
def test_responses_alone_are_shown_with_the_apis_that_they_had(tmp_path: Path, name: str) -> None:
    path = one_direction(tmp_path / "f.pcap", of_sample(name), "response")
    capture = open_capture(path)
    shown = list(capture.exchanges(inferred=True))
    assert len(shown) > 10
    assert {exchange.note for exchange in shown} == {INFERRED}
    assert {*map(identity, shown)} <= {*map(identity, exchanges(SAMPLES_BY_NAME[name]))}
    assert capture.reader.left_out.total() == NAMES[name]
    assert capture.conversations.undecoded > 0  # some could be of several APIs
    assert in_memory([path], 3).exchanges == sequential([path])


def test_what_was_captured_before_a_gap_in_responses_is_shown(tmp_path: Path) -> None:
    """The third segment with payload is missing, in each direction of each connection."""
    sent: Counter[Any] = Counter()
    lossy = []
    for segment in of_sample("rebalance.pcap.gz"):
        sent[segment.source, segment.target] += bool(segment.payload)
        if sent[segment.source, segment.target] != 3:
            lossy.append(segment)
    before = exchanges(one_direction(tmp_path / "f.pcap", lossy, "response"))
    assert len(before) > 20
    assert {*map(identity, before)} <= {
        *map(identity, exchanges(SAMPLES_BY_NAME["rebalance.pcap.gz"]))
    }


def test_responses_alone_are_converted(tmp_path: Path) -> None:
    path = one_direction(tmp_path / "f.pcap", of_sample("rebalance.pcap.gz"), "response")
    whole = converted(path, tmp_path / "again.pcapng")
    assert [*map(identity, exchanges(whole))] == [*map(identity, exchanges(path))]


def test_responses_alone_are_nothing_that_checks_find_fault_with(tmp_path: Path) -> None:
    path = one_direction(tmp_path / "f.pcap", of_sample("rebalance.pcap.gz"), "response")
    assert list(open_capture(path).exchanges()) == []


def frames(*payloads: bytes) -> list[Said]:
    """Frames of a size of four bytes, as other protocols have them, too."""
    return [("response", struct.pack(">i", len(payload)) + payload) for payload in payloads]


PING = struct.pack(">iqi", -2, 0x1234567, 0)
ZOOKEEPER = struct.pack(">iiq", 0, 18000, 0x100000A1B2C0001) + struct.pack(">i16sb", 16, b"", 0)
THRIFT = [
    struct.pack(">Ii3siBhiB", 0x80010002, 3, b"get", number, 8, 0, number, 0)
    for number in range(15)
]
HADOOP = [b"\6\x08" + bytes([number]) + b"\x10\0\x18\x09\0" for number in range(15)]


@pytest.mark.parametrize("payloads", [[ZOOKEEPER, *[PING] * 15], THRIFT, HADOOP])
def test_other_protocols_with_frames_are_left_out(tmp_path: Path, payloads: list[bytes]) -> None:
    both = segments(frames(*payloads), itertools.repeat(1400))
    path = one_direction(tmp_path / "f.pcap", both, "response")
    capture = open_capture(path)
    assert list(capture.exchanges(inferred=True)) == []
    assert capture.reader.left_out.total() == 1


def test_large_frames_are_not_decoded_as_every_api(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large array of zeros would take seconds; the connection is decided by what comes after it."""
    count = 1 << 16
    zeros = struct.pack(">iii", 0, 0, count) + bytes(count * 2)
    versions = [{"api_key": key, "min_version": 0, "max_version": 5} for key in range(40)]
    told: Said = ("response", response(7, 18, 0, api_keys=versions))
    both = segments([*frames(zeros), told], itertools.repeat(1400))
    path = one_direction(tmp_path / "f.pcap", both, "response")
    decoded: list[bytes] = []

    def inspected(key: int, version: int, direction: Direction, body: bytes) -> Any:
        decoded.append(body)
        return frame_resync.inspected(key, version, direction, body)

    monkeypatch.setattr(inference, "inspected", inspected)
    assert [each.api for each in exchanges(path)] == ["ApiVersions"]
    assert max(map(len, decoded)) < count


def test_who_answered_a_syn_sends_no_requests(tmp_path: Path) -> None:
    """The broker's bytes hold a whole request; its port is the higher one."""
    said: list[Said] = [
        ("response", frame) for direction, frame in talk() if direction == "request"
    ]
    both = segments(said, itertools.repeat(1 << 20), client=(CLIENT[0], 9), broker=BROKER)
    path = one_direction(tmp_path / "f.pcap", both, "response")
    assert {(one.client_address, one.inferred) for one in exchanges(path)} <= {("10.0.0.1:9", True)}


@pytest.mark.parametrize("size", [40, 1 << 20])
def test_requests_alone_say_that_the_responses_were_not_captured(tmp_path: Path, size: int) -> None:
    both = segments(talk(), itertools.repeat(size))
    path = one_direction(tmp_path / "f.pcap", both, "request")
    for capture in (path, converted(path, tmp_path / "again.pcapng")):
        notes = {exchange.note for exchange in exchanges(capture)}
        assert notes == {NOT_CAPTURED, UNANSWERED}
        assert all(exchange.end == exchange.ts for exchange in exchanges(capture))


def test_a_broker_that_sends_nothing_has_left_nothing_out(tmp_path: Path) -> None:
    said = [(direction, frame) for direction, frame in talk() if direction == "request"]
    path = one_direction(tmp_path / "f.pcap", segments(said, itertools.repeat(40)), "request")
    assert NOT_CAPTURED not in {exchange.note for exchange in exchanges(path)}
