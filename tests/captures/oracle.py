"""Find the exchanges of a capture slowly and simply, as an independent oracle.

scapy reads the file, and every byte of every packet goes into a map by its position. Nothing of `captures` is
used; order and memory do not matter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.captures.network import Conversation

PRODUCE: Final = 0

Ends = tuple[tuple[str, int], tuple[str, int]]


class Seen(NamedTuple):
    """An exchange: whether its response was captured, and which packets end its two frames."""

    client: str
    correlation_id: int
    key: int
    version: int
    request_size: int
    response: bytes | None
    """The whole frame."""
    request_packets: frozenset[int]
    """All that have its last byte: which of them completes it is a matter of their order."""
    response_packets: frozenset[int]


def packets(path: Path) -> list[tuple[Ends, int, int, bytes]]:
    """((source, target), packet number, sequence number, payload) of all TCP segments in a file."""
    from scapy.config import conf
    from scapy.layers import inet, inet6, l2  # noqa: F401 - scapy knows the layers that are imported
    from scapy.utils import RawPcapNgReader, RawPcapReader

    pcapng = path.read_bytes()[:4] == b"\n\r\r\n"
    found = []
    with (RawPcapNgReader if pcapng else RawPcapReader)(str(path)) as reader:
        for number, (data, meta) in enumerate(reader, 1):
            linktype = meta.linktype if pcapng else reader.linktype
            try:
                layer: Any = conf.l2types[linktype](data)
            except struct.error:  # too short for what scapy takes it for
                continue
            ip = layer.getlayer(inet.IP) or layer.getlayer(inet6.IPv6)
            if ip is None or inet.TCP not in ip:
                continue
            tcp = ip[inet.TCP]
            header, end = (ip.ihl * 4, ip.len) if ip.version == 4 else (40, 40 + ip.plen)
            payload = bytes(ip.original)[header + tcp.dataofs * 4 : end]
            seq = tcp.seq + ("S" in tcp.flags)
            found.append((((ip.src, tcp.sport), (ip.dst, tcp.dport)), number, seq, payload))
    return found


def expected(path: Path, conversations: Iterable[Conversation]) -> list[Seen]:
    """Return the exchanges of these conversations whose whole request is in the file."""
    captured = packets(path)
    found: list[Seen] = []
    for conversation in conversations:
        positions = {"request": 0, "response": 0}
        maps = {
            "request": _bytes(
                captured, (conversation.client, conversation.broker), conversation.isn[0]
            ),
            "response": _bytes(
                captured, (conversation.broker, conversation.client), conversation.isn[1]
            ),
        }
        asked: list[tuple[int, bytes, frozenset[int]]] = []
        answers: dict[int, tuple[bytes, frozenset[int]]] = {}
        for direction, frame in conversation.said:
            begin = positions[direction]
            positions[direction] += len(frame)
            stream = maps[direction]
            if not all(at in stream for at in range(begin, begin + len(frame))):
                continue
            data = bytes(stream[at][0] for at in range(begin, begin + len(frame)))
            assert data == frame
            ends = frozenset(stream[begin + len(frame) - 1][1])
            if direction == "request":
                asked.append((int.from_bytes(data[8:12]), data[4:], ends))
            else:
                answers[int.from_bytes(data[4:8])] = data[4:], ends
        for number, data, ends in asked:
            response, last = answers.get(number, (None, frozenset()))
            key, version = int.from_bytes(data[:2]), int.from_bytes(data[2:4])
            client = (
                conversation.client[0]
                if ":" not in conversation.client[0]
                else f"[{conversation.client[0]}]"
            )
            found.append(
                Seen(
                    f"{client}:{conversation.client[1]}",
                    number,
                    key,
                    version,
                    len(data),
                    response,
                    ends,
                    last,
                )
            )
    return sorted(found, key=lambda seen: (seen.client, seen.correlation_id))


def _bytes(
    captured: list[tuple[Ends, int, int, bytes]], ends: Ends, isn: int
) -> dict[int, tuple[int, set[int]]]:
    """Return, by position in a direction's stream, the byte and the packets that have it."""
    found: dict[int, tuple[int, set[int]]] = {}
    for between, number, seq, payload in captured:
        if between == ends:
            begin = (seq - isn - 1) % 2**32
            for at, byte in enumerate(payload, begin):
                found.setdefault(at, (byte, set()))[1].add(number)
    return found
