"""Make conversations for captures: frames, the segments that carry them, packets, files."""

from __future__ import annotations

import ipaddress
import itertools
import shutil
import struct
import subprocess
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.captures.host_port import Endpoint
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import ACK, FIN, PSH, SYN, TcpSegment
from barnabas.specs.frames import Direction, Frame, encode_frame
from barnabas.specs.headers import request_header_version, response_header_version

CLIENT, BROKER = ("10.0.0.1", 50000), ("10.0.0.2", 19092)
NOW = 1_700_000_000_000_000_000

Said = tuple[Direction, bytes]


def request(correlation_id: int, key: int = 3, version: int = 1, **body: Any) -> bytes:
    """Make a request with its size; missing fields have their defaults."""
    header: dict[str, Any] = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": correlation_id,
        "client_id": "me",
    }
    if request_header_version(key, version) >= 2:
        header["_tags"] = {}
    return encode_frame(Frame("request", key, version, header, body))


def response(correlation_id: int, key: int = 3, version: int = 1, **body: Any) -> bytes:
    """Make a response with its size."""
    header: dict[str, Any] = {"correlation_id": correlation_id}
    if response_header_version(key, version) >= 1:
        header["_tags"] = {}
    return encode_frame(Frame("response", key, version, header, body))


def produce(correlation_id: int, records: bytes, acks: int = -1) -> bytes:
    partitions = [{"index": 0, "records": records}]
    topics = [{"name": "orders", "partition_data": partitions}]
    return request(correlation_id, 0, 7, acks=acks, timeout_ms=1000, topic_data=topics)


def talk(first: int = 1, rounds: int = 3) -> list[Said]:
    """Make a conversation with pipelining: of each round the responses follow all requests but one."""
    said: list[Said] = [("request", request(first, 18, 0)), ("response", response(first, 18, 0))]
    number = first + 1
    for turn in range(rounds):
        noise = bytes((turn * 37 + at * 11) % 256 for at in range(40))
        said += [
            ("request", produce(number, noise)),
            ("request", request(number + 1, 3, 1, topics=[{"name": "orders"}])),
            ("request", produce(number + 2, noise * 3, acks=0)),
            ("response", response(number, 0, 7)),
            ("request", request(number + 3, 12, 0, group_id="g", generation_id=turn)),
            ("response", response(number + 1, 3, 1, controller_id=turn)),
            ("response", response(number + 3, 12, 0, error_code=turn)),
        ]
        number += 4
    return said


def segments(
    said: Iterable[Said],
    sizes: Iterator[int],
    *,
    client: Endpoint = CLIENT,
    broker: Endpoint = BROKER,
    isn: int = 2**32 - 100,
) -> list[TcpSegment]:
    """Make a whole TCP conversation in segments of the given sizes, with true ACK numbers.

    What one side sends without receiving anything in between is one stretch of bytes.
    """
    there, back = [client, broker, isn], [broker, client, isn // 2]

    def one(ends: list[Any], other: list[Any], flags: int, payload: bytes = b"") -> TcpSegment:
        ack = other[2] % 2**32 if flags & ACK else 0
        found = TcpSegment(ends[0], ends[1], ends[2] % 2**32, ack, flags, payload)
        ends[2] += len(payload) + bool(flags & (SYN | FIN))
        return found

    found = [one(there, back, SYN), one(back, there, SYN | ACK), one(there, back, ACK)]
    for direction, frames in itertools.groupby(said, key=lambda one: one[0]):
        data = b"".join(frame for _, frame in frames)
        ends, other = (there, back) if direction == "request" else (back, there)
        at = 0
        while at < len(data):
            size = next(sizes)
            found.append(one(ends, other, ACK | PSH, data[at : at + size]))
            at += size
    found += [one(there, back, FIN | ACK), one(back, there, FIN | ACK), one(there, back, ACK)]
    return found


def ip_packet(segment: TcpSegment) -> bytes:
    """Make an IPv4 or IPv6 packet of a segment, without checksums."""
    (source, from_port), (target, to_port) = segment.source, segment.target
    tcp = struct.pack(
        ">HHIIHHHH",
        from_port,
        to_port,
        segment.seq,
        segment.ack,
        0x5000 | segment.flags,
        65535,
        0,
        0,
    )
    data = tcp + segment.payload
    first, second = (ipaddress.ip_address(host).packed for host in (source, target))
    if len(first) == 16:
        return struct.pack(">IHBB", 6 << 28, len(data), 6, 64) + first + second + data
    return struct.pack(">HHIHH", 0x4500, 20 + len(data), 0, 0x4006, 0) + first + second + data


def write_pcap(
    path: Path, packets: Iterable[bytes], linktype: int = 101, *, order: str = "<", tick: int = 1
) -> Path:
    """Write a classic pcap file, a millisecond between two packets; `tick` is ns: 1 or 1000."""
    magic = 0xA1B23C4D if tick == 1 else 0xA1B2C3D4
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, linktype)]
    for number, data in enumerate(packets):
        seconds, ns = divmod(NOW + number * 1_000_000, 10**9)
        parts.append(struct.pack(order + "IIII", seconds, ns // tick, len(data), len(data)) + data)
    path.write_bytes(b"".join(parts))
    return path


def block(order: str, kind: int, body: bytes) -> bytes:
    """Make a block of a pcapng file."""
    body += bytes(-len(body) & 3)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def capture(path: Path, found: Iterable[TcpSegment]) -> Path:
    """Write a capture of TCP segments, each in an IP packet."""
    return write_pcap(path, map(ip_packet, found))


def exchanges(*paths: Path) -> list[Exchange]:
    """Return the exchanges of captures, by connection and correlation id."""
    found = Conversations().exchanges(CaptureReader(*paths))
    return sorted(found, key=lambda exchange: (exchange.connection, exchange.correlation_id))


def gist(found: Iterable[Exchange]) -> list[tuple[Any, ...]]:
    """Return the content of exchanges, without times and positions in the file."""
    names = ("connection", "client_address", "api", "version", "correlation_id")
    bodies = ("request_body", "response_body", "note")
    return [tuple(getattr(exchange, name) for name in names + bodies) for exchange in found]


def tshark(path: Path, *arguments: str) -> list[str]:
    """Return the lines that tshark prints for fields of a capture."""
    command = [shutil.which("tshark") or "tshark", "-r", str(path), "-T", "fields"]
    run = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


class Mark(NamedTuple):
    """A frame of Kafka's in a capture, as a header and its place say it."""

    packet: int
    correlation_id: int
    key: int
    """-1: of a response to a request that tshark is too old for."""
    version: int
    """-1: of a response."""
    asked: int
    """The packet of its request; 0: of a request."""


def marks(found: Iterable[Exchange]) -> list[Mark]:
    """Return the frames of exchanges, requests and responses."""
    frames = []
    for x in found:
        frames.append(Mark(x.request_packet, x.correlation_id, x.key, x.version, 0))
        if x.response_packet:
            frames.append(Mark(x.response_packet, x.correlation_id, x.key, -1, x.request_packet))
    return sorted(frames)


def kafka_seen(path: Path, ports: Collection[int] = (19092,)) -> list[Mark]:
    """Return the frames that tshark finds in a capture with brokers at these ports.

    tshark ignores the other responses of a packet that has a response without a known request.
    """
    kinds = ("udp.port==8472,vxlan", *(f"tcp.port=={port},kafka" for port in ports))
    chosen = [part for kind in kinds for part in ("-d", kind)]
    chosen += ["-Y", " or ".join(f"kafka.correlation_id and tcp.port=={port}" for port in ports)]
    names = "frame.number", "kafka.correlation_id", "kafka.api_key"
    columns = *names, "kafka.request.version", "kafka.request_frame"
    fields = [part for name in columns for part in ("-e", name)]
    frames = []
    for line in tshark(path, *chosen, *fields, "-E", "occurrence=a"):
        packet, ids, *found = (list(map(int, filter(None, t.split(",")))) for t in line.split("\t"))
        count = len(ids)
        keys, versions, asked = (
            column if len(column) == count else [default] * count
            for column, default in zip(found, (-1, -1, 0), strict=True)
        )
        frames += [Mark(packet[0], *one) for one in zip(ids, keys, versions, asked, strict=True)]
    return sorted(frames)
