"""What a capture holds, frame by frame, with what its comments say of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.framing.flow_framings import FlowFramings
from barnabas.captures.kafka.framing.frame_resync import Asked
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, facts_of, head_of
from barnabas.captures.kafka.pairing.in_flight import LIMIT
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tcp.mid_stream import first_frames
from barnabas.specs.frames import Direction
from barnabas.specs.registry import NAMES


@dataclass(frozen=True, slots=True)
class SeenFrame:
    """A frame: when it was complete (ns since the epoch), where, and what it is.

    `flow` is "arrived" or "left"; `key` and `version` of a response are those of its request, and
    None if that is not known.
    """

    ts: int
    connection: int
    flow: str
    direction: Direction
    ordinal: int
    """Its number among those of its direction in this flow."""
    size: int
    correlation_id: int
    key: int | None
    version: int | None
    client_id: str | None
    facts: dict[str, Any]
    packet: int = 0
    """Number of the packet that brought its last byte, as Wireshark numbers them."""

    @property
    def api(self) -> str:
        """The name of the API."""
        if self.key is None:
            return "unknown"
        return NAMES.get(self.key, f"key {self.key}")

    def row(self) -> dict[str, Any]:
        """In JSON form."""
        return {
            "ts": iso(self.ts),
            "packet": self.packet,
            "connection": self.connection,
            "flow": self.flow,
            "direction": self.direction,
            "api": self.api,
            "key": self.key,
            "version": self.version,
            "correlation_id": self.correlation_id,
            "client_id": self.client_id,
            "size": self.size,
            "facts": self.facts,
        }


def frames(events: Iterable[Event]) -> Iterator[SeenFrame]:
    """All frames of a capture, in the order in which they were complete."""
    connections: dict[int, _Connection] = {}
    for event in events:
        if isinstance(event, Closed):
            connections.pop(event.connection, None)
            continue
        if isinstance(event, Opened):
            connections[event.connection] = _Connection(first_frames(event.comment))
            continue
        connection = connections.setdefault(event.connection, _Connection({}))
        if isinstance(event, Chunk) and event.flow == "left" and not event.data:
            continue  # of a frame that was to leave later, and never does
        framing = connection.framings[event.flow, event.direction]
        if isinstance(event, Lost):
            framing.lose(event.bytes)
            continue
        for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
            yield connection.seen(event, frame)


class _Connection:
    """The flows of a connection, and what was asked on it."""

    def __init__(self, first: Mapping[Direction, int]) -> None:
        self.framings = FlowFramings(first, self._waiting)
        self._asked: dict[int, tuple[int, int, str | None]] = {}
        """(key, version, client id) of the latest requests, by correlation id."""

    def _waiting(self) -> Asked:
        return {number: (key, version) for number, (key, version, _) in self._asked.items()}

    def seen(self, chunk: Chunk, frame: CapturedFrame) -> SeenFrame:
        correlation_id = 0
        asked: tuple[int | None, int | None, str | None] = (None, None, None)
        if chunk.direction == "response":
            correlation_id = int.from_bytes(frame.data[:4], signed=True)
            asked = self._asked.get(correlation_id, asked)
        elif (head := head_of(frame.data)) is not None:
            correlation_id = head.correlation_id
            self._asked.pop(correlation_id, None)
            asked = self._asked[correlation_id] = head.key, head.version, head.client_id
            if len(self._asked) > LIMIT:
                del self._asked[next(iter(self._asked))]
        return SeenFrame(
            frame.ts,
            chunk.connection,
            chunk.flow,
            chunk.direction,
            frame.ordinal,
            len(frame.data),
            correlation_id,
            *asked,
            facts_of(frame),
            frame.packet,
        )
