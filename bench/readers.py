"""`python -m bench.readers NAME FILE`: one way to read a capture, a process for each.

Each prints what it has counted: bytes of TCP payload, or exchanges. Only what a way needs is imported.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final


def packets(path: Path) -> int:
    """Packets are read and their TCP headers: bytes of payload."""
    from barnabas.captures.files.file_format import CaptureFile
    from barnabas.captures.files.pcapng import Packet
    from barnabas.captures.tcp.packets import Packets

    total = 0
    segment = Packets().tcp_segment
    with CaptureFile(path) as file:
        for block in file.blocks():
            if isinstance(block, Packet):
                count = segment(block.linktype, block.data)
                if count is not None:
                    total += len(count.payload)
    return total


def streams(path: Path) -> int:
    """Streams are put together, and those of Kafka picked out: their bytes."""
    from barnabas.captures.reader import CaptureReader
    from barnabas.captures.tcp.events import Chunk

    return sum(len(event.data) for event in CaptureReader(path) if isinstance(event, Chunk))


def exchanges(path: Path) -> int:
    """Frames are paired and their headers decoded: how many exchanges, if nothing was lost."""
    return sum(1 for _ in _exchanges(path))


def bodies(path: Path) -> int:
    """Bodies are decoded too, with record batches as bytes: how many exchanges."""
    return sum(bool(exchange.request and exchange.response) for exchange in _exchanges(path))


def records(path: Path) -> int:
    """And all records: how many exchanges."""
    from barnabas.captures.kafka.unpacked_records import unpacked

    return sum(
        bool(unpacked(exchange.request) and unpacked(exchange.response))
        for exchange in _exchanges(path)
    )


def _exchanges(path: Path) -> Iterator[Any]:
    from barnabas.captures.kafka.conversations import Conversations
    from barnabas.captures.reader import CaptureReader
    from barnabas.cli.proxy.memory import keep_freed

    keep_freed()  # as each command does
    conversations = Conversations(strays=True)
    yield from conversations.exchanges(CaptureReader(path))
    lost = conversations.losses, conversations.undecoded, conversations.skipped
    if any(lost):
        raise SystemExit(f"losses, undecoded, skipped: {lost}")


def dpkt(path: Path) -> int:
    """Packets and their TCP headers, by dpkt: bytes of payload."""
    from dpkt import ethernet, ip, pcap, tcp

    total = 0
    with path.open("rb") as file:
        reader = pcap.UniversalReader(file)
        first = ethernet.Ethernet if reader.datalink() == pcap.DLT_EN10MB else ip.IP
        for _, data in reader:
            packet = first(data)
            segment = packet.data.data if first is ethernet.Ethernet else packet.data
            if isinstance(segment, tcp.TCP):
                total += len(segment.data)
    return total


def scapy(path: Path) -> int:
    """Packets and their TCP headers, by scapy: bytes of payload."""
    logging.getLogger("scapy").setLevel(logging.ERROR)
    from scapy.layers import inet, l2  # noqa: F401 it knows only the layers of modules that are imported
    from scapy.utils import PcapReader

    total = 0
    with PcapReader(str(path)) as reader:
        for packet in reader:
            if inet.TCP in packet:
                total += len(packet[inet.TCP].payload)
    return total


WAYS: Final[dict[str, Callable[[Path], int]]] = {
    way.__name__: way for way in (packets, streams, exchanges, bodies, records, dpkt, scapy)
}


if __name__ == "__main__":
    print(WAYS[sys.argv[1]](Path(sys.argv[2])))
