"""A row for each packet of a piece: the table `packets`, with the requested columns only."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from barnabas.captures.files.pcapng import NUMBERED, Other
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.tcp.packets import Packets
from barnabas.pipeline.reading.blocks import blocks
from barnabas.pipeline.reading.endpoints import endpoints
from barnabas.pipeline.reading.header_arrays import fast_headers
from barnabas.pipeline.reading.numbering import Numbers
from barnabas.pipeline.reading.packet_arrays import PacketArrays
from barnabas.pipeline.reading.plan import Piece
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

_TCP: Final = frozenset(("source", "target", "seq", "ack", "flags", "payload"))
_MOST: Final = 8 << 20
"""Bytes of packets in a batch, if they are requested."""

OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "EqualTo": operator.eq,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
}
"""Comparisons that are made before a row is, by the names of Spark's filters."""
COMPARED: Final = ("number", "ts_ns", "size")
"""The columns that can be compared."""


class Comparison(NamedTuple):
    """A condition on a column of COMPARED."""

    column: str
    operator: str
    value: int


def packet_rows(
    piece: Piece, columns: Sequence[str], conditions: Sequence[Comparison] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield rows of a piece with these columns of PACKETS that meet all conditions. Raises OSError."""
    schema = arrow(tuple(column for column in PACKETS if column.name in columns))
    schema = pa.schema([schema.field(name) for name in columns])
    numbers = Numbers(piece)
    packets = Packets()
    for block in blocks(piece.range):
        if isinstance(block, Other) and block.kind in NUMBERED:
            numbers.skip()
        elif isinstance(block, PacketArrays):
            comparable = {"number": numbers.of(block), "ts_ns": block.times, "size": block.sizes}
            matching = np.ones(len(block.blocks), bool)
            for condition in conditions:
                matching &= OPERATORS[condition.operator](
                    comparable[condition.column], condition.value
                )
            items = np.flatnonzero(matching)
            for part in _parts(block, items, whole="data" not in columns):
                of = _Part(piece.range.path, block, comparable["number"], part)
                yield _batch(of, packets, schema)


def _parts(arrays: PacketArrays, items: NDArray[np.intp], *, whole: bool) -> list[NDArray[np.intp]]:
    if whole or not items.size:
        return [items] if items.size else []
    share = np.cumsum(arrays.sizes[items]) // _MOST
    return np.split(items, np.flatnonzero(np.diff(share)) + 1)


class _Part(NamedTuple):
    """Packets to make rows of."""

    path: str
    """The capture file."""
    arrays: PacketArrays
    numbers: NDArray[np.int64]
    """The number of each packet of the arrays."""
    items: NDArray[np.intp]
    """The indexes of the packets with a row."""


_COLUMNS: Final[dict[str, Callable[[_Part], Any]]] = {
    "file": lambda of: [of.path] * len(of.items),
    "number": lambda of: of.numbers[of.items],
    "ts": lambda of: pa.array(of.arrays.times[of.items] // 1000),
    "ts_ns": lambda of: of.arrays.times[of.items],
    "offset": lambda of: of.arrays.blocks[of.items] + of.arrays.base,
    "linktype": lambda of: of.arrays.linktypes[of.items],
    "size": lambda of: of.arrays.sizes[of.items],
    "comments": lambda of: [list(of.arrays.comments.get(item, ())) for item in of.items.tolist()],
    "data": lambda of: [of.arrays.packet(item) for item in of.items.tolist()],
}
"""Functions that make the columns without TCP."""


def _batch(of: _Part, packets: Packets, schema: pa.Schema) -> pa.RecordBatch:
    tcp: dict[str, Any] = {}
    if not _TCP.isdisjoint(schema.names):
        tcp = _segments(of.arrays, of.items, packets)
    arrays = []
    for field in schema:
        values = tcp[field.name] if field.name in _TCP else _COLUMNS[field.name](of)
        if isinstance(values, list):
            arrays.append(pa.array(values, field.type))
        else:
            arrays.append(pa.array(values).cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _segments(
    arrays: PacketArrays, items: NDArray[np.intp], packets: Packets
) -> dict[str, list[Any]]:
    """Return the values of TCP fields in each packet, or nulls."""
    count = len(arrays.blocks)
    values_by_column: dict[str, list[Any]] = {name: [None] * count for name in _TCP}
    rest = np.zeros(count, bool)
    rest[items] = True
    for headers in fast_headers(arrays):
        rest[headers.items] = False
        rows = zip(
            headers.items.tolist(), headers.ends, headers.forward.tolist(), headers.seq.tolist(),
            headers.ack.tolist(), headers.flags.tolist(), headers.sizes.tolist(), strict=True,
        )  # fmt: skip
        for item, ends, forward, seq, ack, flags, size in rows:
            source, target = endpoints(ends.tobytes())[:: 1 if forward else -1]
            _put(values_by_column, item, source, target, seq, ack, flags, size)
    for item in np.flatnonzero(rest).tolist():
        segment = packets.tcp_segment(int(arrays.linktypes[item]), arrays.packet(item))
        if segment is not None:
            size = len(segment.payload)
            source, target = segment.source, segment.target
            _put(
                values_by_column,
                item,
                source,
                target,
                segment.seq,
                segment.ack,
                segment.flags,
                size,
            )
    return {
        name: [values[item] for item in items.tolist()] for name, values in values_by_column.items()
    }


def _put(
    values_by_column: dict[str, list[Any]], item: int, source: Any, target: Any, *numbers: int
) -> None:
    values = (endpoint_text(source), endpoint_text(target), *numbers)
    for name, value in zip(
        ("source", "target", "seq", "ack", "flags", "payload"), values, strict=True
    ):
        values_by_column[name][item] = value
