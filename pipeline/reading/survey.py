"""The survey of a range: the first, quick pass, which does not read the contents of packets.

It retains only facts that concern other ranges, too: the number of packets, sections, TLS keys, notes, flows
that belong together, and fragments of datagrams.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from barnabas.captures.comments import document, names_flow
from barnabas.captures.files.pcapng import NUMBERED, Interface, Other, Secrets, Section, Statistics
from barnabas.captures.tcp.fragments import Fragments
from barnabas.captures.tcp.packets import Packets
from barnabas.pipeline.reading.blocks import Begin, End, blocks
from barnabas.pipeline.reading.endpoints import ends_of
from barnabas.pipeline.reading.header_arrays import slow_packets
from barnabas.pipeline.reading.packet_arrays import PacketArrays
from barnabas.pipeline.reading.ranges import Fault, Range, State


class NamedFlow(NamedTuple):
    """A flow of the proxy whose comment names its connection."""

    offset: int
    ends: bytes
    connection: int


class Fragment(NamedTuple):
    """A packet with a fragment of a datagram.

    `number` is its index among the numbered blocks of its range, from 1.
    """

    number: int
    ts_ns: int
    linktype: int
    data: bytes


@dataclass(slots=True)
class RangeSurvey:
    """A range, and its survey. Offsets are bytes of the decompressed file."""

    range: Range
    begin: int | None = None
    """The offset of the first block; None without one."""
    end: int = 0
    """The offset of the first block after the range."""
    state: State = field(default_factory=State)
    """The state at the end."""
    packets: int = 0
    numbered: int = 0
    """Packets, and other blocks that Wireshark numbers."""
    latest: int = 0
    """The latest time of a packet, ns."""
    sections: list[tuple[Section, int]] = field(default_factory=list)
    """Each with the number of numbered blocks before it in the range."""
    added: tuple[Interface, ...] = ()
    """Interfaces described since the range's beginning or its last section."""
    notes: list[Statistics] = field(default_factory=list)
    """Blocks with remarks on the whole capture."""
    secrets: list[Secrets] = field(default_factory=list)
    named: list[NamedFlow] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def keep(self, block: Statistics | Secrets | Fault) -> None:
        """Add a block to the list for its type."""
        of_type: dict[type, list[Any]] = {
            Statistics: self.notes,
            Secrets: self.secrets,
            Fault: self.faults,
        }
        of_type[type(block)].append(block)


class FragmentDetector(Fragments):
    """Detects fragments without reassembling them."""

    def __init__(self) -> None:
        super().__init__()
        self.any = False

    def add(self, key: Hashable, offset: int, more: bool, data: bytes) -> bytes | None:
        """Record that there was a fragment, and report that no datagram is complete."""
        self.any = True
        return None


def survey(file_range: Range) -> RangeSurvey:
    """Survey a range. Raises OSError."""
    result = RangeSurvey(file_range)
    detector = FragmentDetector()
    packets = Packets(detector, _scapy=lambda linktype, data: None)
    for block in blocks(file_range):
        match block:
            case PacketArrays():
                _inspect(result, block, packets, detector)
                count = len(block.blocks)
                result.latest = max(result.latest, int(block.times.max()))
                result.packets += count
                result.numbered += count
            case Begin():
                result.begin = block.offset
            case End():
                result.end, result.state = block.offset, block.state
            case Section():
                result.sections.append((block, result.numbered))
                result.added = ()
            case Interface():
                result.added += (block,)
            case Other():
                result.numbered += block.kind in NUMBERED
            case Statistics() | Secrets() | Fault():
                result.keep(block)
    return result


def _inspect(
    result: RangeSurvey, arrays: PacketArrays, packets: Packets, detector: FragmentDetector
) -> None:
    """Find fragments, and comments that name the connection of a flow."""
    for item in slow_packets(arrays).tolist():
        linktype, data = int(arrays.linktypes[item]), arrays.packet(item)
        detector.any = False
        segment = packets.tcp_segment(linktype, data)
        if detector.any:
            time = int(arrays.times[item])
            result.fragments.append(Fragment(result.numbered + item + 1, time, linktype, data))
        elif segment is not None and item in arrays.comments:
            for comment in map(document, arrays.comments[item]):
                if names_flow(comment):
                    offset = arrays.base + int(arrays.blocks[item])
                    result.named.append(
                        NamedFlow(offset, ends_of(segment)[0], comment["connection"])
                    )
                    break
