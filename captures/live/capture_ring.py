"""Write one capture from several processes, through a ring to the process that writes the file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from barnabas.captures.files.pcapng import ENHANCED, Buffer, block_head
from barnabas.captures.live.reader import await_more
from barnabas.captures.live.ring import Ring
from barnabas.captures.tcp.headers import LINKTYPE_RAW, parse
from barnabas.captures.writing.block_sink import Behind, Stats
from barnabas.captures.writing.flow_writer import Comment
from barnabas.captures.writing.pcapng import PACKET_HEAD
from barnabas.captures.writing.writer import CaptureState, CaptureWriter


class CaptureRingSink:
    """A `BlockSink` of one of these processes. Blocks that do not fit are lost, and counted in the ring."""

    losing = False

    def __init__(self, ring: Ring) -> None:
        self.stats = Stats()
        self._ring = ring
        self._introduced = 0

    @property
    def segment(self) -> int:
        """Return the current segment, and remember it: the next block is for that segment."""
        self._introduced = self._ring.segment
        return self._introduced

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers may be reused on return. False: they are lost. Raises Behind."""
        ring, size = self._ring, sum(map(len, buffers))
        with ring.lock:
            if packets and self._introduced != ring.segment:
                raise Behind
            fits = size <= ring.free
            if fits:
                ring.count(packets, payload)
                ring.append(buffers, size)
                if ring.full:
                    ring.turn()
            else:
                ring.lose(packets, payload)
        return fits

    def lose(self, packets: int, payload: int) -> bool:
        """Count packets that are not written. Always False."""
        with self._ring.lock:
            self._ring.lose(packets, payload)
        return False

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Do nothing, since the pump closes the file."""


def fitting(data: bytes, room: float) -> tuple[int, int, int]:
    """Return the size of the first whole blocks that fit into `room`, their packets and payload bytes."""
    at = packets = payload = 0
    while at < len(data):
        _, block_type, length = block_head(data, at, "<", at)
        if at + length > room:
            break
        if block_type == ENHANCED:
            packets += 1
            tcp = parse(LINKTYPE_RAW, data[at + PACKET_HEAD : at + length])
            payload += 0 if tcp is None else len(tcp.payload)
        at += length
    return at, packets, payload


class CapturePump:
    """A thread that writes the blocks of a ring into a capture, in the process that outlives the others.

    All methods are for the thread that created it.
    """

    def __init__(self, ring: Ring, writer: CaptureWriter) -> None:
        self._ring = ring
        self._writer = writer
        self._counted = 0, 0
        self._lost = 0
        """Lost packets of the file for which flows were introduced again."""
        self._thread = threading.Thread(target=self._run, name="capture pump", daemon=True)
        self._turned = 0
        """Segments that have ended."""
        self._closed = False
        """Whether the capture has counted the losses of the ring."""
        ring.divide(writer.segment_size)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def stats(self) -> Stats:
        """Return the counts so far, including losses in the ring."""
        stats = self._writer.stats
        packets, payload = (0, 0) if self._closed else self._ring.lost
        return replace(
            stats,
            lost_packets=stats.lost_packets + packets,
            lost_bytes=stats.lost_bytes + payload,
        )

    @property
    def state(self) -> CaptureState:
        """Return the path and the counts so far."""
        return CaptureState(str(self._writer.path), self.stats)

    def keep(self, ts_ns: int, comment: Comment) -> None:
        """Repeat a note of one of the processes in later segments."""
        self._writer.keep(ts_ns, comment)

    def look(self, _: int) -> list[Path]:
        """Return the segments closed since the last call."""
        return self._writer.closed()

    def close(self) -> None:
        """Write the remaining blocks, after all processes have stopped writing to the ring."""
        self._ring.close()
        if self._thread.ident is None:
            self.start()
        self._thread.join()
        self._closed = True
        self._writer.lose(*self._ring.lost)
        self._writer.close()

    def _run(self) -> None:
        looks = 0
        while True:
            over = self._ring.closed
            end = self._ring.written
            moved = self._ring.waiting
            while (position := self._ring.turned(self._turned)) is not None and position <= end:
                self._write(position)
                self._turned += 1
                self._writer.turn()
            self._write(end)
            if self._writer.old(time.time_ns()):
                with self._ring.lock:
                    self._ring.turn()
            if over and not moved:
                return
            looks = 0 if moved else looks + 1
            if looks:
                await_more(self._ring, looks)

    def _write(self, end: int) -> None:
        """Write the blocks up to a position."""
        pieces = self._ring.peek(end)
        if pieces:
            packets, payload = self._ring.put
            more = packets - self._counted[0], payload - self._counted[1]
            self._counted = packets, payload
            size = sum(map(len, pieces))
            if self._writer.left < size and self._writer.stats.stopped is None:
                self._fill(b"".join(pieces), *more)
            else:
                self._writer.write(pieces, *more)
            self._ring.drop(size)
        stats = self._writer.stats
        if stats.lost_packets > self._lost and stats.stopped is None:
            self._lost = stats.lost_packets
            with self._ring.lock:
                self._ring.anew()  # the lost packets may have introduced flows

    def _fill(self, data: bytes, packets: int, payload: int) -> None:
        """Write the blocks that fit up to the limit, and lose the others."""
        at, written, size = fitting(data, self._writer.left)
        self._writer.write([data[:at]], written, size)
        self._writer.write([memoryview(data)[at:]], packets - written, payload - size)
