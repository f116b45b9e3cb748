"""Makes rows of TCP segments from a piece of a capture: one row for a flow's segments in a run of packets.

A row has the offsets of payloads in the file, not the payloads, so that the shuffle moves little data. Bytes
that cannot be located again (compressed files, captures larger than the memory, tunnels) are in the row.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from barnabas.captures.files.pcapng import NUMBERED, Other
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.pipeline.reading.blocks import blocks
from barnabas.pipeline.reading.endpoints import ends_of
from barnabas.pipeline.reading.header_arrays import Headers, fast_headers
from barnabas.pipeline.reading.numbering import Numbers
from barnabas.pipeline.reading.packet_arrays import PacketArrays
from barnabas.pipeline.reading.plan import Piece
from barnabas.pipeline.reading.survey import FragmentDetector
from barnabas.pipeline.rows.columns import arrow, fields

COLUMNS: Final = fields(
    "flow binary, first bigint, section_group int, ends binary, path string, segments binary, "
    "data binary"
)
"""flow: the key of a conversation, or of a connection of the proxy; first: the number of the first packet;
section_group: see plan.SectionGroup; ends: see endpoints.py; path: the file with the payload, or null if
it is in `data`; segments: of dtype SEGMENT, in packet order; data: bytes that are in no file."""

SCHEMA: Final = arrow(COLUMNS)

SEGMENT: Final = np.dtype(
    [
        ("number", "<i8"),
        ("ts_ns", "<i8"),
        ("at", "<i8"),
        ("size", "<u4"),
        ("seq", "<u4"),
        ("ack", "<u4"),
        ("comments", "<u4"),
        ("flags", "u1"),
        ("kind", "u1"),
    ]
)
"""number: of the packet; at, size: its payload in the file, or in `data` (INLINE); comments: bytes of
comments after it, as JSON; flags: TCP's; kind: a sum of the following."""
FORWARD, INLINE, CAREFUL = 1, 2, 4
"""The sender is the first endpoint; the payload is in `data`; the packet was not in the most frequent form.
"""

CARRIED: Final = 1 << 20
"""Bytes of a file whose packets share rows at most, if rows have payload."""


Links = dict[tuple[int, bytes], bytes]
"""See plan.Plan."""


def segments(piece: Piece, links: Links, *, carry: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a piece. Raises OSError.

    `carry` says whether rows have payload.
    """
    path = None if carry or piece.range.kind == "packed" else piece.range.path
    rows = _PieceRows(piece, links, path)
    for block in blocks(piece.range):
        if isinstance(block, Other) and block.kind in NUMBERED:
            rows.numbers.skip()
        elif isinstance(block, PacketArrays):
            for part in [block] if path else _parts(block):
                yield from rows.of(part)


def _parts(arrays: PacketArrays) -> Iterator[PacketArrays]:
    """Yield packets cut after CARRIED bytes."""
    share = (arrays.blocks - arrays.blocks[0]) // CARRIED
    cuts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(share)]
    for begin, end in itertools.pairwise(cuts):
        yield arrays.part(begin, end)


class _CarefulPackets:
    """Packets that are not in the most frequent form."""

    def __init__(self, piece: Piece) -> None:
        self._detector = FragmentDetector()
        self._packets = Packets(self._detector)
        self._whole = piece.whole

    def segment(self, arrays: PacketArrays, item: int, packet_number: int) -> TcpSegment | None:
        """Return the segment in a packet, or the one that its fragment has completed."""
        self._detector.any = False
        segment_here = self._packets.tcp_segment(int(arrays.linktypes[item]), arrays.packet(item))
        if self._detector.any:
            whole = self._whole.get(packet_number)
            return None if whole is None else whole.segment
        return segment_here


class _PieceRows:
    """Makes the rows of a piece."""

    def __init__(self, piece: Piece, links: Links, path: str | None) -> None:
        self.numbers = Numbers(piece)
        self._piece, self._links, self._path = piece, links, path
        self._careful = _CarefulPackets(piece)

    def of(self, arrays: PacketArrays) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the next packets."""
        packet_numbers, numbers = self.numbers.numbers_in_file(arrays), self.numbers.of(arrays)
        parts: list[NDArray[np.void]] = []
        codes: list[NDArray[np.int64]] = []
        flow_numbers: dict[bytes, int] = {}
        rest = np.ones(len(arrays.blocks), bool)
        for headers in fast_headers(arrays):
            rest[headers.items] = False
            parts.append(_plain_segments(arrays, headers, numbers))
            codes.append(_codes(headers, flow_numbers))
        blob = bytearray()
        rare_rows = []
        rare_codes = []
        for item in np.flatnonzero(rest).tolist():
            segment = self._careful.segment(arrays, item, int(packet_numbers[item]))
            if segment is None:
                continue
            ends, forward = ends_of(segment)
            texts = arrays.comments.get(item, ())
            comments = json.dumps(texts).encode() if texts else b""
            kind = CAREFUL | INLINE | (FORWARD if forward else 0)
            rare_codes.append(flow_numbers.setdefault(ends, len(flow_numbers)))
            rare_rows.append(
                (
                    int(numbers[item]),
                    int(arrays.times[item]),
                    len(blob),
                    len(segment.payload),
                    segment.seq,
                    segment.ack,
                    len(comments),
                    segment.flags,
                    kind,
                )
            )
            blob += segment.payload + comments
        if rare_rows:
            parts.append(np.array(rare_rows, SEGMENT))
            codes.append(np.array(rare_codes, np.int64))
        if not parts:
            return
        all_segments, code = np.concatenate(parts), np.concatenate(codes)
        order = np.lexsort((all_segments["number"], code))
        all_segments, code = all_segments[order], code[order]
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        stops = np.append(starts[1:], len(code))
        names = list(flow_numbers)
        ends_of_rows = [names[code[at]] for at in starts]
        rows = FlowRows(all_segments, starts, stops, ends_of_rows, bytes(blob))
        group = _section_group_of(self._piece, arrays)
        yield _batch(arrays, rows, group, self._links, self._path)


def _plain_segments(
    arrays: PacketArrays, headers: Headers, numbers: NDArray[np.int64]
) -> NDArray[np.void]:
    rows = np.zeros(len(headers.items), SEGMENT)
    rows["number"] = numbers[headers.items]
    rows["ts_ns"] = arrays.times[headers.items]
    rows["at"] = headers.starts + arrays.base
    rows["size"] = headers.sizes
    rows["seq"] = headers.seq
    rows["ack"] = headers.ack
    rows["flags"] = headers.flags
    rows["kind"] = np.where(headers.forward, FORWARD, 0)
    return rows


def _codes(headers: Headers, flow_numbers: dict[bytes, int]) -> NDArray[np.int64]:
    """Return a number for each packet's flow; new flows are added to `flow_numbers`."""
    count, width = headers.ends.shape
    flat = pa.py_buffer(np.ascontiguousarray(headers.ends))
    as_binary = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, flat])
    coded = as_binary.dictionary_encode()
    numbers = [
        flow_numbers.setdefault(ends, len(flow_numbers)) for ends in coded.dictionary.to_pylist()
    ]
    found_codes: NDArray[np.int64] = np.array(numbers, np.int64)[coded.indices.to_numpy()]
    return found_codes


def _section_group_of(piece: Piece, arrays: PacketArrays) -> int:
    """Return the group of sections of some packets: none begins between them."""
    first = arrays.base + int(arrays.blocks[0])
    group = piece.section_groups[0][1]
    for offset, section_group in piece.section_groups:
        if offset <= first:
            group = section_group
    return group


class FlowRows(NamedTuple):
    """The segments of some packets by flow: row i has those from starts[i] up to stops[i]."""

    segments: NDArray[np.void]
    starts: NDArray[np.intp]
    stops: NDArray[np.intp]
    ends: list[bytes]
    blob: bytes
    """The INLINE payloads, before each row gets its own."""


def _batch(
    arrays: PacketArrays, rows: FlowRows, section_group: int, links: Links, path: str | None
) -> pa.RecordBatch:
    segments_of_all, starts = rows.segments, rows.starts
    datas = [
        _carried(arrays, segments_of_all[start:stop], rows.blob, all_of=path is None)
        for start, stop in zip(starts.tolist(), rows.stops.tolist(), strict=True)
    ]
    head = struct.pack(">I", section_group)
    flows = [head + links.get((section_group, ends), ends) for ends in rows.ends]
    offsets = np.append(starts, len(segments_of_all)).astype(np.int32) * SEGMENT.itemsize
    packed = pa.BinaryArray.from_buffers(
        pa.binary(),
        len(starts),
        [None, pa.py_buffer(offsets), pa.py_buffer(segments_of_all.tobytes())],
    )
    columns = [
        pa.array(flows, pa.binary()),
        pa.array(segments_of_all["number"][starts]),
        pa.array(np.full(len(starts), section_group, np.int32)),
        pa.array(rows.ends, pa.binary()),
        pa.array([path] * len(starts), pa.string()),
        packed,
        pa.array(datas, pa.binary()),
    ]
    return pa.record_batch(columns, schema=SCHEMA)


def _carried(
    arrays: PacketArrays, row_segments: NDArray[np.void], blob: bytes, *, all_of: bool
) -> bytes | None:
    """Return the bytes that a row has to contain, and set the offsets of its segments."""
    inline = row_segments["kind"] & INLINE != 0
    if not all_of and not inline.any():
        return None
    pieces = []
    at = 0
    for item in range(len(row_segments)) if all_of else np.flatnonzero(inline).tolist():
        segment = row_segments[item]
        start, size = int(segment["at"]), int(segment["size"]) + int(segment["comments"])
        if inline[item]:
            pieces.append(blob[start : start + size])
        else:
            start -= arrays.base
            pieces.append(bytes(arrays.data[start : start + size]))
            segment["kind"] |= INLINE
        segment["at"] = at
        at += size
    return b"".join(pieces)
