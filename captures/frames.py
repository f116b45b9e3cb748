"""What a capture holds, frame by frame, with what its comments say of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from captures.conversation import Event, facts_of, head_of
from captures.exchange import iso
from captures.framing import Framing
from captures.reader import Closed, Lost, Opened
from specs.contents import NAMES
from specs.frames import Direction


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
    framings: dict[tuple[int, str, str], Framing] = {}
    asked: dict[tuple[int, int], tuple[int, int, str | None]] = {}
    for event in events:
        if isinstance(event, Closed):
            framings = {
                at: framing for at, framing in framings.items() if at[0] != event.connection
            }
            asked = {at: what for at, what in asked.items() if at[0] != event.connection}
        if isinstance(event, Opened | Closed):
            continue
        place = (event.connection, event.flow, event.direction)
        framing = framings.setdefault(place, Framing(linked=event.flow == "left"))
        if isinstance(event, Lost):
            framing.lose(event.bytes)
            continue
        for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
            key = version = client_id = None
            if event.direction == "request":
                head = head_of(frame.data)
                correlation_id = 0
                if head is not None:
                    correlation_id = head.correlation_id
                    key, version, client_id = head.key, head.version, head.client_id
                    asked[event.connection, correlation_id] = (head.key, head.version, client_id)
            else:
                correlation_id = int.from_bytes(frame.data[:4], signed=True)
                what = asked.get((event.connection, correlation_id))
                if what is not None:
                    key, version, client_id = what
            yield SeenFrame(
                frame.ts,
                event.connection,
                event.flow,
                event.direction,
                frame.ordinal,
                len(frame.data),
                correlation_id,
                key,
                version,
                client_id,
                facts_of(frame),
                frame.packet,
            )
