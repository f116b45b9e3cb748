"""Writes what passes as a pcapng file that Wireshark opens: a TCP conversation a connection.

The *arrived* flow of a connection, client to listener, holds all bytes as they came. What left
otherwise (changed, late, invented) is in a second, linked flow, proxy to broker. What is known of a
frame is the comment on the packet that it ends with: one line of JSON.

In a capture of several segments a flow is introduced again by an empty packet in each of them: which one it
is, and where in its bytes and frames the segment begins (`goes_on`).
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
"""Version of the comments' layout; the section header's comment says it."""

_NOTED: Final = ("barnabas", "by")
"""What a note of a scenario says beside what a section says of it."""

_RESERVE: Final = 320
"""Bytes of a limited file that are kept for the block that says what was lost."""


class CaptureState(NamedTuple):
    """Where a capture is, and how it went so far."""

    path: str
    stats: Stats


class CaptureWriter:
    """A capture file that is being written; all methods are for one thread.

    `limit` is in bytes of the file; `meta` goes into the section header. Raises OSError if the
    file can't be created, and nothing later: `stats` says how it went. A chunk is written whole or
    is lost whole. `sink` makes the file: see `Sink` for what can be changed about it.

    With `rotation` the path is a folder of segments, which say `capture`, a name of their own, of
    themselves: together they are read as the one file that would have been.
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
        """What was noted and still holds in a later segment."""
        self._capture = capture
        self._segments: Segments | None = None
        self._sink: BlockSink
        room = None if limit is None else limit - _RESERVE
        if rotation is None:
            self._sink = sink(path, head(self._meta), limit=room)
        else:
            made = Segments(path, self._segment_head, rotation, limit=room)
            self._sink = self._segments = made
        self._now = 0

    @property
    def stats(self) -> Stats:
        """What was written and lost so far."""
        return self._sink.stats

    @property
    def state(self) -> CaptureState:
        """Where it is, and how it went so far."""
        return CaptureState(str(self.path), self.stats)

    def open(
        self, connection: int, client: Endpoint, server: Endpoint, ts_ns: int, comment: Comment
    ) -> FlowWriter:
        """A connection was accepted. Raises OSError if an address is not a numeric one."""
        self._now = ts_ns
        return FlowWriter(self._sink, connection, client, server, ts_ns, comment)

    def note(self, ts_ns: int, comment: Comment) -> None:
        """Something that concerns no connection, such as a scenario that was loaded again."""
        self.keep(ts_ns, comment)
        self._sink.put([statistics(ts_ns, encode(comment))], 0, 0)

    def keep(self, ts_ns: int, comment: Comment) -> None:
        """What later segments say of something that was noted."""
        self._now = ts_ns
        kind = comment.get("barnabas")
        if kind == "scenario":
            self._meta |= {key: value for key, value in comment.items() if key not in _NOTED}
            self._meta["began"] = ts_ns
        elif kind == "listener" and self._segments is not None:
            self._standing.append(comment)

    @property
    def segment_size(self) -> int | None:
        """Bytes at which a segment ends."""
        return None if self._segments is None else self._segments.rotation.size

    @property
    def left(self) -> float:
        """Bytes until its limit."""
        sink = self._file
        return sink.left if isinstance(sink, Sink) else math.inf

    def write(self, buffers: Sequence[Buffer], packets: int, payload: int) -> None:
        """Blocks that others have made, who say where segments end: see `turn`."""
        self._file.put(buffers, packets, payload)

    @property
    def _file(self) -> BlockSink:
        """The file that is written now: it does not say itself where a segment ends."""
        return self._sink if self._segments is None else self._segments.sink

    def old(self, now: int) -> bool:
        """Whether the present segment is to end for its age: told once."""
        return self._segments is not None and self._segments.old(now)

    def lose(self, packets: int, payload: int) -> None:
        """Count what never came here."""
        self._sink.lose(packets, payload)

    def turn(self) -> None:
        """What is written from now on goes to another segment."""
        if self._segments is not None:
            self._segments.turn()

    def look(self, ts_ns: int) -> list[Path]:
        """To be called now and then, as the present segment may be old enough. Returns those that were
        closed since the last time."""
        if self._segments is None:
            return []
        self._segments.look(ts_ns)
        return self.closed()

    def closed(self) -> list[Path]:
        """Segments that were closed since the last time."""
        return [] if self._segments is None else list(self._segments.news())

    def close(self) -> None:
        """Write what waits, within bounded time, and what was lost if anything was."""
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
        said: dict[str, Any] = {"capture": self._capture, "number": number}
        if number > 1 and self._standing:
            said["notes"] = self._standing
        return head({**self._meta, "segment": said})

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
    """How a section begins, which says `meta` of itself: packets of IP without a link layer, times in ns."""
    begins = section(encode({"barnabas": FORMAT, **meta}), _program())
    return begins + interface(LINKTYPE_RAW)


@cache
def _program() -> str:
    """Who writes it: read once, as a checkout's version takes a millisecond to read."""
    return f"barnabas {version()}"
