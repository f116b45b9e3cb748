"""List the frames of a capture, with the comments on each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.framing.flow_framings import FlowFramings
from barnabas.captures.kafka.framing.frame_resync import InFlight
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, facts_of, head_of
from barnabas.captures.kafka.pairing.in_flight import LIMIT
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tcp.mid_stream import first_frames
from barnabas.specs.frames import Direction
from barnabas.specs.registry import NAMES


@dataclass(frozen=True, slots=True)
class ListedFrame:
    """A frame of a capture: when it was complete (ns since the epoch), its flow, and its header.

    `flow` is "arrived" or "left". `key` and `version` of a response are those of its request; None: unknown.
    """

    ts: int
    connection: int
    flow: str
    direction: Direction
    ordinal: int
    """Its index among the frames of its direction in this flow."""
    size: int
    correlation_id: int
    key: int | None
    version: int | None
    client_id: str | None
    facts: dict[str, Any]
    packet: int = 0
    """Number of the packet with its last byte, as Wireshark numbers packets."""

    @property
    def api(self) -> str:
        """Return the name of the API."""
        if self.key is None:
            return "unknown"
        return NAMES.get(self.key, f"key {self.key}")

    def row(self) -> dict[str, Any]:
        """Return the frame in JSON form."""
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


def frames(events: Iterable[Event]) -> Iterator[ListedFrame]:
    """Yield all frames of a capture, in the order in which they were complete."""
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
            continue  # a comment on a delayed frame that never leaves
        framing = connection.framings[event.flow, event.direction]
        if isinstance(event, Lost):
            framing.lose(event.bytes)
            continue
        for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
            yield connection.listed(event, frame)


class _Connection:
    """The flows of a connection, and its latest requests."""

    def __init__(self, first: Mapping[Direction, int]) -> None:
        self.framings = FlowFramings(first, self._waiting)
        self._requests: dict[int, tuple[int, int, str | None]] = {}
        """Key, version and client id of the latest requests, by correlation id."""

    def _waiting(self) -> InFlight:
        return {number: (key, version) for number, (key, version, _) in self._requests.items()}

    def listed(self, chunk: Chunk, frame: CapturedFrame) -> ListedFrame:
        correlation_id = 0
        request: tuple[int | None, int | None, str | None] = (None, None, None)
        if chunk.direction == "response":
            correlation_id = int.from_bytes(frame.data[:4], signed=True)
            request = self._requests.get(correlation_id, request)
        elif (head := head_of(frame.data)) is not None:
            correlation_id = head.correlation_id
            self._requests.pop(correlation_id, None)
            request = self._requests[correlation_id] = head.key, head.version, head.client_id
            if len(self._requests) > LIMIT:
                del self._requests[next(iter(self._requests))]
        return ListedFrame(
            frame.ts,
            chunk.connection,
            chunk.flow,
            chunk.direction,
            frame.ordinal,
            len(frame.data),
            correlation_id,
            *request,
            facts_of(frame),
            frame.packet,
        )
