"""What a range holds, found without reading what is in its packets: the first, light pass.

Only what does not fit into one range is kept: how many packets there are, sections, keys of TLS, notes,
which flows of ours belong together, and fragments of datagrams.
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
from barnabas.pipeline.reading.faults import Fault
from barnabas.pipeline.reading.header_arrays import slow_packets
from barnabas.pipeline.reading.packet_arrays import PacketArrays
from barnabas.pipeline.reading.ranges import Range, State


class Named(NamedTuple):
    """A flow of ours says which connection it is of."""

    offset: int
    ends: bytes
    connection: int


class Fragment(NamedTuple):
    """A packet with a piece of a datagram: its place among the numbered blocks of its range, from 1."""

    place: int
    ts_ns: int
    linktype: int
    data: bytes


@dataclass(slots=True)
class Surveyed:
    """A range, and what was found in it. Offsets are bytes of the unpacked file."""

    range: Range
    begin: int | None = None
    """Where its first block begins; None: none does."""
    end: int = 0
    """Where the first block behind it begins."""
    state: State = field(default_factory=State)
    """What holds there."""
    packets: int = 0
    numbered: int = 0
    """Packets, and other blocks that have a number in Wireshark."""
    latest: int = 0
    """The latest time of a packet, ns."""
    sections: list[tuple[Section, int]] = field(default_factory=list)
    """With how many numbered blocks stand before it in the range."""
    added: tuple[Interface, ...] = ()
    """Interfaces that were described since the range's beginning or its last section."""
    notes: list[Statistics] = field(default_factory=list)
    """Blocks with remarks on the whole capture."""
    secrets: list[Secrets] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def keep(self, block: Statistics | Secrets | Fault) -> None:
        """Add a block to those of its type."""
        of_type: dict[type, list[Any]] = {
            Statistics: self.notes,
            Secrets: self.secrets,
            Fault: self.faults,
        }
        of_type[type(block)].append(block)


class Noticed(Fragments):
    """Puts nothing together: only notices that there was a fragment."""

    def __init__(self) -> None:
        super().__init__()
        self.any = False

    def add(self, key: Hashable, offset: int, more: bool, data: bytes) -> bytes | None:
        """Say that nothing is whole."""
        self.any = True
        return None


def survey(of: Range) -> Surveyed:
    """What a range holds. Raises OSError."""
    found = Surveyed(of)
    noticed = Noticed()
    packets = Packets(noticed, _scapy=lambda linktype, data: None)
    for block in blocks(of):
        match block:
            case PacketArrays():
                _look(found, block, packets, noticed)
                count = len(block.blocks)
                found.latest = max(found.latest, int(block.times.max()))
                found.packets += count
                found.numbered += count
            case Begin():
                found.begin = block.offset
            case End():
                found.end, found.state = block.offset, block.state
            case Section():
                found.sections.append((block, found.numbered))
                found.added = ()
            case Interface():
                found.added += (block,)
            case Other():
                found.numbered += block.kind in NUMBERED
            case Statistics() | Secrets() | Fault():
                found.keep(block)
    return found


def _look(found: Surveyed, arrays: PacketArrays, packets: Packets, noticed: Noticed) -> None:
    """Look for fragments, and for comments that say which connection a flow is of."""
    for item in slow_packets(arrays).tolist():
        linktype, data = int(arrays.linktypes[item]), arrays.packet(item)
        noticed.any = False
        segment = packets.tcp_segment(linktype, data)
        if noticed.any:
            time = int(arrays.times[item])
            found.fragments.append(Fragment(found.numbered + item + 1, time, linktype, data))
        elif segment is not None and item in arrays.comments:
            for comment in map(document, arrays.comments[item]):
                if names_flow(comment):
                    offset = arrays.base + int(arrays.blocks[item])
                    found.named.append(Named(offset, ends_of(segment)[0], comment["connection"]))
                    break
