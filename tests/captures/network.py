"""Simulate a network and a sniffer: segments, retransmissions, packets of any link type, files.

Nothing is lost or changed, only sent in other pieces, sent again, and written in another order.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.headers import ACK, FIN, PSH, RST, SYN, TcpSegment
from tests.captures.traffic import NOW, Said, block, ip_packet, talk, write_pcap

LINKS: Final[dict[str, tuple[int, str, str]]] = {
    "raw": (101, "", ""),
    "ethernet": (1, "020000000001 020000000002 0800", "020000000001 020000000002 86dd"),
    "vlan": (1, "020000000001 020000000002 8100 0007 0800", "020000000001 020000000002 8100 0007 86dd"),
    "cooked": (113, "0000 0304 0006 0000000000000000 0800", "0000 0304 0006 0000000000000000 86dd"),
    "cooked2": (276, "0800 0000 00000001 0001 04 06" + 16 * "0", "86dd 0000 00000001 0001 04 06" + 16 * "0"),
    "null": (0, "02000000", "0a000000"),
}  # fmt: skip
"""By name: link type, headers in hex before IPv4, before IPv6."""

ENDINGS: Final = ("open", "fin", "fin with data", "rst")

NOISE: Final = (
    bytes.fromhex("4500001c000000004011000000000000 00000000 0035 0035 0008 0000"),  # UDP
    bytes.fromhex("4500001400000000 4001 0000 0a000001 0a000002"),  # ICMP, cut short
    b"\x45",
    b"",
    bytes(40),
    ip_packet(
        TcpSegment(("10.9.9.9", 22), ("10.9.9.8", 40022), 5, 5, ACK | PSH, b"SSH-2.0-x\r\n" * 9)
    ),
)


@dataclass(frozen=True)
class Conversation:
    """Two endpoints, their initial sequence numbers, and the messages between them."""

    client: Endpoint
    broker: Endpoint
    said: list[Said]
    isn: tuple[int, int]
    """The client's and the broker's first sequence number."""


@dataclass(frozen=True)
class Habits:
    """Probabilities of unusual packets, each from 0 to 1."""

    repeat: float = 0.0
    """A segment comes again, as it was or as another piece of what was sent so far."""
    probe: float = 0.0
    """A keep-alive, or the next byte alone as a probe of a closed window."""
    chatter: float = 0.0
    """An ACK without data."""


def conversations(
    count: int, isn: int, *, rounds: int = 2, six: bool = False
) -> list[Conversation]:
    """Make conversations that differ in ports, sequence numbers and messages."""
    hosts = ("fe80::1", "fe80::2") if six else ("10.0.0.1", "10.0.0.2")
    return [
        Conversation(
            (hosts[0], 50000 + number),
            (hosts[1], 19092 + number % 2),
            talk(first=1000 * number + 1, rounds=rounds),
            ((isn + number * 7919) % 2**32, (isn * 3 + number) % 2**32),
        )
        for number in range(count)
    ]


def sent(
    one: Conversation, sizes: Iterable[int], random: Random, habits: Habits, ending: str = "fin"
) -> list[TcpSegment]:
    """Return the segments of a conversation in sending order."""
    size = itertools.cycle(sizes)
    streams = {
        name: b"".join(data for direction, data in one.said if direction == name)
        for name in ("request", "response")
    }
    ends = {"request": (one.client, one.broker), "response": (one.broker, one.client)}
    begun = dict(zip(("request", "response"), one.isn, strict=True))
    reached = {"request": 0, "response": 0}
    found: list[TcpSegment] = []

    def segment(name: str, at: int, payload: bytes = b"", flags: int = ACK) -> TcpSegment:
        other = "response" if name == "request" else "request"
        ack = (begun[other] + 1 + reached[other]) % 2**32 if flags & ACK else 0
        return TcpSegment(*ends[name], (begun[name] + 1 + at) % 2**32, ack, flags, payload)

    fast_open = random.random() < 0.3  # data in the SYN (RFC 7413)
    first = streams["request"][: random.randint(1, 20)] if fast_open else b""
    found.append(segment("request", -1, first, SYN))
    reached["request"] = len(first)
    found.append(segment("response", -1, b"", SYN | ACK))
    found.append(segment("request", reached["request"]))
    until = {"request": 0, "response": 0}
    for name, frames in itertools.groupby(one.said, key=lambda said: said[0]):
        other = "response" if name == "request" else "request"
        until[name] += sum(len(data) for _, data in frames)
        stream = streams[name]
        while reached[name] < until[name]:
            at = reached[name]
            if random.random() < habits.probe:
                found.append(segment(other, reached[other]))
                probe = stream[at : at + 1] if random.random() < 0.5 else b""
                found.append(segment(name, at if probe else at - 1, probe))
            payload = stream[at : min(at + next(size), until[name])]
            found.append(segment(name, at, payload, ACK | random.choice((0, PSH, 0x40, 0x80))))
            reached[name] += len(payload)
            if random.random() < habits.repeat:
                at = random.randint(0, reached[name])
                piece = stream[at : random.randint(at, min(at + 1448, reached[name]))]
                again = random.choice(found[3:])
                found.append(random.choice((segment(name, at, piece, ACK | PSH), again)))
            if random.random() < habits.chatter:
                found += [segment(other, reached[other])] * random.randint(1, 3)
    match ending:
        case "fin":
            found.append(segment("request", reached["request"], b"", FIN | ACK))
            found.append(segment("response", reached["response"], b"", FIN | ACK))
        case "fin with data":
            end = (begun["response"] + 1 + reached["response"]) % 2**32
            for at in range(len(found) - 1, 2, -1):
                last = found[at]
                # a repetition of an earlier one has no FIN
                if last.source == one.broker and (last.seq + len(last.payload)) % 2**32 == end:
                    found[at] = last._replace(flags=last.flags | FIN)
                    break
            found.append(segment("request", reached["request"], b"", FIN | ACK))
        case "rst":
            found.append(segment("request", reached["request"], b"", RST | ACK))
    return found


def interleaved(each: list[list[TcpSegment]], random: Random) -> list[TcpSegment]:
    """Merge the segments of several conversations, keeping the order of each."""
    turns = [number for number, one in enumerate(each) for _ in one]
    random.shuffle(turns)
    left = [iter(one) for one in each]
    return [next(left[number]) for number in turns]


def moved(found: list[TcpSegment], late: int, random: Random) -> list[TcpSegment]:
    """Up to so many places later; a reset stays behind what was before it."""
    keys: list[float] = []
    for at, segment in enumerate(found):
        reset = segment.flags & RST
        keys.append(at + (late if reset else random.randint(0, late)))
    return [found[at] for at in sorted(range(len(found)), key=keys.__getitem__)]


def wrapped(segment: TcpSegment, link: str, random: Random) -> bytes:
    """Return a packet; some have TCP options, padding as of short Ethernet frames, or a window of 0."""
    data = ip_packet(segment)
    six = data[0] >> 4 == 6
    start = 40 if six else 20
    if random.random() < 0.5:
        tcp = bytearray(data[start : start + 20])
        tcp[12] = 8 << 4
        tcp[14:16] = random.choice((b"\0\0", b"\xff\xff"))
        options = b"\1\1\x08\x0a" + bytes(8)
        data = data[:start] + bytes(tcp) + options + data[start + 20 :]
        if six:
            data = data[:4] + struct.pack(">H", len(data) - 40) + data[6:]
        else:
            data = data[:2] + struct.pack(">H", len(data)) + data[4:]
    _, before4, before6 = LINKS[link]
    head = bytes.fromhex(before6 if six else before4)
    padding = bytes(max(0, 60 - len(head + data))) if link in ("ethernet", "vlan") else b""
    return head + data + padding


def with_noise(packets: Iterable[bytes], link: str, random: Random) -> list[bytes]:
    """Between them others that hold no Kafka."""
    head = bytes.fromhex(LINKS[link][1])
    found = []
    for data in packets:
        while random.random() < 0.15:
            found.append(head + random.choice(NOISE))
        found.append(data)
    return found


def as_pcap(path: Path, packets: Iterable[bytes], link: str, order: str, tick: int) -> Path:
    """Write a classic pcap file."""
    return write_pcap(path, packets, LINKS[link][0], order=order, tick=tick)


def as_pcapng(
    path: Path,
    packets: Iterable[tuple[str, bytes]],
    order: str = "<",
    skew_ms: int = 0,
) -> Path:
    """Write a pcapng file with an interface for each link, each with its own clock."""
    parts = [block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for number, (linktype, _, _) in enumerate(LINKS.values()):
        option = struct.pack(order + "HHBxxxI", 9, 1, 9 if number % 2 else 6, 0)
        parts.append(block(order, 1, struct.pack(order + "HHI", linktype, 0, 262144) + option))
    for at, (link, data) in enumerate(packets):
        number = list(LINKS).index(link)
        ticks = (NOW + (at + skew_ms) * 1_000_000) // (1 if number % 2 else 1000)
        head = struct.pack(order + "5I", number, *divmod(ticks, 1 << 32), len(data), len(data))
        parts.append(block(order, 6, head + data))
    path.write_bytes(b"".join(parts))
    return path
