"""A row for each packet of a capture: the table `packets`, with the requested columns only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from barnabas.captures.files.pcapng import Packet
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tcp.share import Share
from barnabas.pipeline.rows.columns import Column, arrow

PACKETS: Final = (
    Column("file", "string", "the capture file"),
    Column("number", "bigint", "as Wireshark numbers it; files of others are merged by time"),
    Column("ts", "timestamp", "when it was captured, to the microsecond"),
    Column("ts_ns", "bigint", "the same in ns since the epoch; 0: not known"),
    Column("offset", "bigint", "byte of the file (unpacked) where its block begins"),
    Column("linktype", "int", "link type of its interface"),
    Column("size", "bigint", "bytes that were captured"),
    Column("source", "string", "the sender's ip:port, if it has a TCP segment; else null"),
    Column("target", "string", "the receiver's ip:port"),
    Column("seq", "bigint", "sequence number of the segment"),
    Column("ack", "bigint", "acknowledgement number"),
    Column("flags", "int", "TCP's flags"),
    Column("payload", "bigint", "bytes of payload in the packet"),
    Column("comments", "array<string>", "its comment in the capture"),
    Column("data", "binary", "the packet's bytes"),
)
"""One row a packet. A fragment has no segment here: `exchanges` reassembles datagrams."""

WRITTEN: Final = (
    Column("capture", "string", "name of the capture"),
    *(column for column in PACKETS if column.name != "data"),
)
"""The columns of a written table: `file` and `offset` locate the packet's bytes."""

_MOST: Final = 8 << 20
"""Bytes of packets that end a batch."""
_ROWS: Final = 4000
"""Packets that end a batch."""
_GROUP: Final = 4096
"""Consecutive packets that one reader makes rows of."""
ALL_PACKETS: Final = Share(0, 1)


class _Packet(NamedTuple):
    """A packet of a file, and its TCP segment if it has one."""

    number: int
    path: Path
    packet: Packet
    segment: TcpSegment | None


_COLUMNS: Final[dict[str, Callable[[_Packet], Any]]] = {
    "file": lambda of: str(of.path),
    "number": lambda of: of.number,
    "ts": lambda of: of.packet.ts_ns // 1000,
    "ts_ns": lambda of: of.packet.ts_ns,
    "offset": lambda of: of.packet.file_offset,
    "linktype": lambda of: of.packet.linktype,
    "size": lambda of: len(of.packet.data),
    "source": lambda of: of.segment and endpoint_text(of.segment.source),
    "target": lambda of: of.segment and endpoint_text(of.segment.target),
    "seq": lambda of: of.segment and of.segment.seq,
    "ack": lambda of: of.segment and of.segment.ack,
    "flags": lambda of: of.segment and of.segment.flags,
    "payload": lambda of: of.segment and len(of.segment.payload),
    "comments": lambda of: list(of.packet.comments),
    "data": lambda of: of.packet.data,
}
"""The value of each column."""


def packet_rows(
    paths: Sequence[Path],
    columns: Sequence[str],
    share: Share = ALL_PACKETS,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of a capture with these columns of PACKETS.

    Args:
        paths: The files, in the order of reading.
        columns: The names of the columns.
        share: Packets are divided among readers in groups of `_GROUP`.

    Raises:
        OSError: A file can't be read.
        CaptureError: A file can't be read any further.
    """
    schema = arrow(tuple(column for column in PACKETS if column.name in columns))
    schema = pa.schema([schema.field(name) for name in columns])
    rows: list[dict[str, Any]] = []
    size, packets = 0, Packets()
    for number, path, packet in CaptureReader(*paths).numbered_packets():
        if number // _GROUP % share.readers != share.number:
            continue
        segment = packets.tcp_segment(packet.linktype, packet.data)
        row = _Packet(number, path, packet, segment)
        rows.append({name: _COLUMNS[name](row) for name in columns})
        size += len(packet.data)
        if size > _MOST or len(rows) == _ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema)
            rows, size = [], 0
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema)
