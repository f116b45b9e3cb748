"""From a piece of a capture to rows of TCP segments: one row for what a flow has in a run of packets.

A row is small: where the payload stands in the file, not the payload itself, so that next to nothing is
moved when flows are brought together. What can't be found again (compressed files, captures that are too
large for the memory, tunnels) travels in the row.
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
from barnabas.pipeline.reading.survey import Noticed
from barnabas.pipeline.rows.columns import arrow, fields

COLUMNS: Final = fields(
    "flow binary, first bigint, section_group int, ends binary, path string, segments binary, "
    "data binary"
)
"""flow: what is brought together (a conversation, or those of a connection of ours); first: the number of
its first packet; section_group: see plan.SectionGroup; ends: see endpoints.py; path: where the payload is,
or null: in `data`; segments: of dtype SEGMENT, in the order of the packets; data: bytes that are nowhere
else."""

SCHEMA: Final = arrow(COLUMNS)

SEGMENT: Final = np.dtype(
    [
        ("number", "<i8"),
        ("ts_ns", "<i8"),
        ("at", "<i8"),
        ("size", "<u4"),
        ("seq", "<u4"),
        ("ack", "<u4"),
        ("said", "<u4"),
        ("flags", "u1"),
        ("kind", "u1"),
    ]
)
"""number: of the packet; at, size: its payload in the file, or in `data` (INLINE); said: bytes of comments
behind it, as JSON; flags: TCP's; kind: a sum of the following."""
FORWARD, INLINE, CAREFUL = 1, 2, 4
"""The sender is the first of the ends; the payload is in `data`; its packet had not the usual form."""

CARRIED: Final = 1 << 20
"""Bytes of a file whose packets are in the same rows at most, where payload travels."""


Links = dict[tuple[int, bytes], bytes]
"""See plan.Plan."""


def segments(piece: Piece, links: Links, *, carry: bool) -> Iterator[pa.RecordBatch]:
    """The rows of a piece; carry: payload travels in the rows.

    Raises OSError.
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
    """Packets cut where so many bytes have passed."""
    share = (arrays.blocks - arrays.blocks[0]) // CARRIED
    cuts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(share)]
    for begin, end in itertools.pairwise(cuts):
        yield arrays.part(begin, end)


class _Rare:
    """Packets that have not the usual form."""

    def __init__(self, piece: Piece) -> None:
        self._noticed = Noticed()
        self._packets = Packets(self._noticed)
        self._whole = piece.whole

    def segment(self, arrays: PacketArrays, item: int, place: int) -> TcpSegment | None:
        """The segment in a packet, or that its fragments have made whole."""
        self._noticed.any = False
        found = self._packets.tcp_segment(int(arrays.linktypes[item]), arrays.packet(item))
        if self._noticed.any:
            whole = self._whole.get(place)
            return None if whole is None else whole.segment
        return found


class _PieceRows:
    """Makes the rows of a piece."""

    def __init__(self, piece: Piece, links: Links, path: str | None) -> None:
        self.numbers = Numbers(piece)
        self._piece, self._links, self._path = piece, links, path
        self._rare = _Rare(piece)

    def of(self, arrays: PacketArrays) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the next packets."""
        places, numbers = self.numbers.places(arrays), self.numbers.of(arrays)
        parts: list[NDArray[np.void]] = []
        codes: list[NDArray[np.int64]] = []
        known: dict[bytes, int] = {}
        rest = np.ones(len(arrays.blocks), bool)
        for headers in fast_headers(arrays):
            rest[headers.items] = False
            parts.append(_usual(arrays, headers, numbers))
            codes.append(_codes(headers, known))
        blob = bytearray()
        rare_rows = []
        rare_codes = []
        for item in np.flatnonzero(rest).tolist():
            segment = self._rare.segment(arrays, item, int(places[item]))
            if segment is None:
                continue
            ends, forward = ends_of(segment)
            said = arrays.comments.get(item, ())
            comments = json.dumps(said).encode() if said else b""
            kind = CAREFUL | INLINE | (FORWARD if forward else 0)
            rare_codes.append(known.setdefault(ends, len(known)))
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
        found, code = np.concatenate(parts), np.concatenate(codes)
        order = np.lexsort((found["number"], code))
        found, code = found[order], code[order]
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        stops = np.append(starts[1:], len(code))
        names = list(known)
        ends_of_rows = [names[code[at]] for at in starts]
        rows = Rows(found, starts, stops, ends_of_rows, bytes(blob))
        group = _section_group_of(self._piece, arrays)
        yield _batch(arrays, rows, group, self._links, self._path)


def _usual(arrays: PacketArrays, headers: Headers, numbers: NDArray[np.int64]) -> NDArray[np.void]:
    found = np.zeros(len(headers.items), SEGMENT)
    found["number"] = numbers[headers.items]
    found["ts_ns"] = arrays.times[headers.items]
    found["at"] = headers.starts + arrays.base
    found["size"] = headers.sizes
    found["seq"] = headers.seq
    found["ack"] = headers.ack
    found["flags"] = headers.flags
    found["kind"] = np.where(headers.forward, FORWARD, 0)
    return found


def _codes(headers: Headers, known: dict[bytes, int]) -> NDArray[np.int64]:
    """A number for each flow, entered where all that are known stand."""
    count, width = headers.ends.shape
    flat = pa.py_buffer(np.ascontiguousarray(headers.ends))
    found = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, flat])
    coded = found.dictionary_encode()
    own = [known.setdefault(ends, len(known)) for ends in coded.dictionary.to_pylist()]
    found_codes: NDArray[np.int64] = np.array(own, np.int64)[coded.indices.to_numpy()]
    return found_codes


def _section_group_of(piece: Piece, arrays: PacketArrays) -> int:
    """The group of sections of some packets: none begins between them."""
    first = arrays.base + int(arrays.blocks[0])
    found = piece.section_groups[0][1]
    for offset, section_group in piece.section_groups:
        if offset <= first:
            found = section_group
    return found


class Rows(NamedTuple):
    """The segments of some packets by their flows: row i has those from starts[i] up to stops[i]."""

    segments: NDArray[np.void]
    starts: NDArray[np.intp]
    stops: NDArray[np.intp]
    ends: list[bytes]
    blob: bytes
    """What their INLINE payloads are in, until each row has its own."""


def _batch(
    arrays: PacketArrays, rows: Rows, section_group: int, links: Links, path: str | None
) -> pa.RecordBatch:
    found, starts = rows.segments, rows.starts
    datas = [
        _carried(arrays, found[start:stop], rows.blob, all_of=path is None)
        for start, stop in zip(starts.tolist(), rows.stops.tolist(), strict=True)
    ]
    head = struct.pack(">I", section_group)
    flows = [head + links.get((section_group, one), one) for one in rows.ends]
    offsets = np.append(starts, len(found)).astype(np.int32) * SEGMENT.itemsize
    packed = pa.BinaryArray.from_buffers(
        pa.binary(), len(starts), [None, pa.py_buffer(offsets), pa.py_buffer(found.tobytes())]
    )
    columns = [
        pa.array(flows, pa.binary()),
        pa.array(found["number"][starts]),
        pa.array(np.full(len(starts), section_group, np.int32)),
        pa.array(rows.ends, pa.binary()),
        pa.array([path] * len(starts), pa.string()),
        packed,
        pa.array(datas, pa.binary()),
    ]
    return pa.record_batch(columns, schema=SCHEMA)


def _carried(
    arrays: PacketArrays, found: NDArray[np.void], blob: bytes, *, all_of: bool
) -> bytes | None:
    """The bytes that a row has to bring; its segments are told where they are."""
    inline = found["kind"] & INLINE != 0
    if not all_of and not inline.any():
        return None
    pieces = []
    at = 0
    for item in range(len(found)) if all_of else np.flatnonzero(inline).tolist():
        one = found[item]
        start, size = int(one["at"]), int(one["size"]) + int(one["said"])
        if inline[item]:
            pieces.append(blob[start : start + size])
        else:
            start -= arrays.base
            pieces.append(bytes(arrays.data[start : start + size]))
            one["kind"] |= INLINE
        one["at"] = at
        at += size
    return b"".join(pieces)
