"""Write traffic as a pcapng file that Wireshark opens: one TCP conversation for each connection.

The *arrived* flow of a connection, client to listener, has all bytes as they arrived. Frames that left
changed, late, or made by the proxy are in a second, linked flow, proxy to broker. The facts about a frame are
the comment on the packet that ends with the frame: one line of JSON.

In a capture of several segments, each segment introduces a flow again with an empty packet: its identity, and
where in its bytes and frames the segment begins (`goes_on`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.headers import LINKTYPE_RAW
from barnabas.captures.writing.block_sink import BlockSink, Stats
from barnabas.captures.writing.flow_writer import Comment, FlowWriter, encode
from barnabas.captures.writing.pcapng import interface, section, statistics
from barnabas.captures.writing.rotation import Rotation, Segments
from barnabas.captures.writing.sink import Sink
from barnabas.version import version

FORMAT: Final = 1
"""The version of the comment format, in the comment of the section header."""

_NOTED: Final = ("barnabas", "by")
"""The fields of a scenario note that the section's metadata does not get."""

_RESERVE: Final = 320
"""Bytes of a limited file that are reserved for the block with the losses."""


class CaptureState(NamedTuple):
    """The path of a capture, and its counts so far."""

    path: str
    stats: Stats


class CaptureWriter:
    """A capture file that is being written; all methods are for one thread.

    A chunk is written or lost as a whole.

    Args:
        path: The file; with `rotation` the folder of its segments.
        limit: Bytes of the file.
        meta: Metadata for the section header.
        sink: Makes the file: see `Sink` for its options.
        rotation: When a segment is closed; None: write one file.
        capture: Identifies the capture in its segments, so that they are read as one file.

    Raises:
        OSError: The file can't be created. Later errors are in `stats`.
    """

    def __init__(
        self,
        path: Path,
        *,
        limit: int | None,
        meta: Comment,
        sink: Callable[..., BlockSink] = Sink,
        rotation: Rotation | None = None,
        capture: str = "",
    ) -> None:
        self.path = path
        self._meta = dict(meta)
        self._standing: list[Comment] = []
        """Notes that still hold in later segments."""
        self._capture = capture
        self._segments: Segments | None = None
        self._sink: BlockSink
        room = None if limit is None else limit - _RESERVE
        if rotation is None:
            self._sink = sink(path, head(self._meta), limit=room)
        else:
            segments = Segments(path, self._segment_head, rotation, limit=room)
            self._sink = self._segments = segments
        self._now = 0

    @property
    def stats(self) -> Stats:
        """Return the counts so far."""
        return self._sink.stats

    @property
    def state(self) -> CaptureState:
        """Return the path and the counts so far."""
        return CaptureState(str(self.path), self.stats)

    def open(
        self, connection: int, client: Endpoint, server: Endpoint, ts_ns: int, comment: Comment
    ) -> FlowWriter:
        """Begin an accepted connection. Raises OSError if an address is not numeric."""
        self._now = ts_ns
        return FlowWriter(self._sink, connection, client, server, ts_ns, comment)

    def note(self, ts_ns: int, comment: Comment) -> None:
        """Write a note on the whole capture, such as a reloaded scenario."""
        self.keep(ts_ns, comment)
        self._sink.put([statistics(ts_ns, encode(comment))], 0, 0)

    def keep(self, ts_ns: int, comment: Comment) -> None:
        """Repeat a note in later segments."""
        self._now = ts_ns
        note_type = comment.get("barnabas")
        if note_type == "scenario":
            self._meta |= {key: value for key, value in comment.items() if key not in _NOTED}
            self._meta["began"] = ts_ns
        elif note_type == "listener" and self._segments is not None:
            self._standing.append(comment)

    @property
    def segment_size(self) -> int | None:
        """Return the bytes at which a segment ends."""
        return None if self._segments is None else self._segments.rotation.size

    @property
    def packets(self) -> int:
        """Return the number of the last packet in the current file, as Wireshark counts: from 1."""
        sink = self._file
        return sink.accepted_packets if isinstance(sink, Sink) else 0

    @property
    def left(self) -> float:
        """Return the bytes until the limit."""
        sink = self._file
        return sink.left if isinstance(sink, Sink) else math.inf

    def write(self, buffers: Sequence[Buffer], packets: int, payload: int) -> None:
        """Write blocks that other processes made; they decide where segments end: see `turn`."""
        self._file.put(buffers, packets, payload)

    @property
    def _file(self) -> BlockSink:
        """Return the current file, which does not end segments by itself."""
        return self._sink if self._segments is None else self._segments.sink

    def old(self, now: int) -> bool:
        """Return once whether the current segment has reached its age."""
        return self._segments is not None and self._segments.old(now)

    def lose(self, packets: int, payload: int) -> None:
        """Count packets that never reached this writer."""
        self._sink.lose(packets, payload)

    def turn(self) -> None:
        """Begin another segment."""
        if self._segments is not None:
            self._segments.turn()

    def look(self, ts_ns: int) -> list[Path]:
        """Close the current segment if it is old enough; return the segments closed since the last call.

        Call it regularly.
        """
        if self._segments is None:
            return []
        self._segments.look(ts_ns)
        return self.closed()

    def closed(self) -> list[Path]:
        """Return the segments closed since the last call."""
        return [] if self._segments is None else list(self._segments.news())

    def close(self) -> None:
        """Write waiting blocks within bounded time, and the losses if there are any."""
        self._sink.close(self._account)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _segment_head(self, number: int) -> bytes:
        segment: dict[str, Any] = {"capture": self._capture, "number": number}
        if number > 1 and self._standing:
            segment["notes"] = self._standing
        return head({**self._meta, "segment": segment})

    def _account(self, stats: Stats) -> bytes:
        if not stats.lost_packets and stats.stopped is None:
            return b""
        comment = {
            "barnabas": "lost",
            "packets": stats.lost_packets,
            "bytes": stats.lost_bytes,
            "stopped": stats.stopped,
        }
        return statistics(self._now, encode(comment), stats.lost_packets)


def head(meta: Comment) -> bytes:
    """Return the beginning of a section with metadata: raw IP packets, times in ns."""
    begins = section(encode({"barnabas": FORMAT, **meta}), _program())
    return begins + interface(LINKTYPE_RAW)


@cache
def _program() -> str:
    """Return the name of this program, cached since reading a checkout's version takes a millisecond."""
    return f"barnabas {version()}"
