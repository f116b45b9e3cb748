"""A row for each frame: the table `frames`, between packets and exchanges.

Pure: no Spark. `Conversations` cuts out and pairs the frames, so the result for each frame is that of
`exchanges`. A row waits until it is known whether its frame has a partner.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import HEADLESS, STRAY, Exchange
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, facts_of, head_of
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.pairing.in_flight import LIMIT
from barnabas.captures.tcp.events import Closed, Event, FlowName, Opened
from barnabas.pipeline.rows.columns import Column
from barnabas.pipeline.rows.exchanges import LATEST
from barnabas.specs.frames import Direction
from barnabas.specs.registry import NAMES

FRAMES: Final = (
    Column("capture", "string", "name of the capture"),
    Column("connection", "bigint", "number of its connection, as in exchanges"),
    Column("flow", "string", "arrived, or left: frames that a proxy changed, delayed or made"),
    Column("direction", "string", "request or response"),
    Column("place", "bigint", "how many frames were found before it in its direction of its flow"),
    Column("ordinal", "bigint", "its number among those that were sent; null: not known, after a gap"),
    Column("ts", "timestamp", "when its last byte was captured, to the microsecond"),
    Column("ts_ns", "bigint", "the same in ns since the epoch"),
    Column("packet", "bigint", "number of the packet with its last byte, as Wireshark has it"),
    Column("size", "bigint", "its bytes without its size"),
    Column("api", "string", "name of the API, or `key N`; null: not known"),
    Column("key", "int", "key of the API; of a response that of its request; null: not known"),
    Column("version", "int", "version of the request; null: not known"),
    Column("correlation_id", "int", "correlation id; null: it is too short to have one"),
    Column("client_id", "string", "the client id in the request's header, or null"),
    Column(
        "paired",
        "boolean",
        "whether its request or response was found; null: none is expected (acks=0), or the "
        "frame is of the flow that left",
    ),
    Column("partner_packet", "bigint", "number of the packet with the partner's last byte; or null"),
    Column("undecodable", "string", "why it can't be decoded; empty: it can; null: not tried"),
    Column("said", "string", "what a capture of the proxy notes about it, as JSON; or null"),
)  # fmt: skip
"""One row a frame."""

NO_REQUEST: Final = "no captured request belongs to it"

Waiting = dict[int, dict[str, Any]]
"""Rows by the index of their frame."""

_LATER: Final = ("later", "changed")
"""Metadata of frames whose exchange ends only when they are forwarded."""


class Frames:
    """Rows of FRAMES, without `capture` and `ts`, of the frames of a `Conversations`.

    Pass `seen` to it, and each exchange of an event to `exchange`; then `done` yields the complete rows.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, dict[Direction, Waiting]] = {}
        """Rows of arrived frames, by connection and direction."""
        self._done: list[dict[str, Any]] = []

    def seen(
        self, connection: int, flow: FlowName, direction: Direction, frame: CapturedFrame
    ) -> None:
        """Record a complete frame."""
        facts, data = facts_of(frame), frame.data
        head = head_of(data) if direction == "request" else None
        number = int.from_bytes(data[:4], signed=True) if len(data) >= 4 else None
        row: dict[str, Any] = {
            "connection": connection,
            "flow": flow,
            "direction": direction,
            "place": frame.place,
            "ordinal": frame.ordinal if frame.ordinal >= -1 else None,
            "ts_ns": min(frame.ts, LATEST),
            "packet": frame.packet,
            "size": len(data),
            "correlation_id": number if direction == "response" else None,
            "said": json.dumps(facts) if facts else None,
        }
        if head is not None:
            row |= {"key": head.key, "version": head.version, "client_id": head.client_id}
            row["correlation_id"] = head.correlation_id
        if flow == "left":
            self._done.append(row)
        else:
            row["paired"] = False
            row["undecodable"] = NO_REQUEST if direction == "response" else None
            places = self._waiting.setdefault(connection, {"request": {}, "response": {}})
            places[direction][frame.place] = row

    def exchange(self, exchange: Exchange) -> None:
        """Record the result of a request."""
        waiting = self._waiting.get(exchange.connection)
        if waiting is None or exchange.key == STRAY:
            return
        request = waiting["request"].pop(exchange.request_place, None)
        if request is not None:
            silent = exchange.note == UNANSWERED
            paired = None if silent else exchange.response_size is not None
            self._complete(request, "request", exchange, paired, exchange.response_packet)
        response = waiting["response"].pop(exchange.response_place, None)
        if response is not None:
            self._complete(response, "response", exchange, True, exchange.request_packet)

    def _complete(
        self,
        row: dict[str, Any],
        direction: Direction,
        exchange: Exchange,
        paired: bool | None,
        partner: int,
    ) -> None:
        tried = exchange.body(direction) is not None and exchange.key not in HEADLESS
        row |= {
            "api": exchange.api,
            "key": exchange.key,
            "version": exchange.version,
            "client_id": exchange.client_id,
            "paired": paired,
            "partner_packet": partner or None,
            "undecodable": exchange.reason(direction) if tried else None,
        }
        self._done.append(row)

    def done(self, connection: int, *, over: bool) -> Iterator[dict[str, Any]]:
        """Yield the rows that are complete after an event of a connection and its exchanges.

        `over` says that the connection has ended.
        """
        waiting = self._waiting.get(connection)
        if waiting is not None:
            requests = waiting["request"]
            while len(requests) > LIMIT:  # more than may be in flight
                self._done.append(requests.pop(next(iter(requests))))
            responses = waiting["response"]
            for frame_index in [
                frame_index for frame_index, row in responses.items() if over or _alone(row)
            ]:
                self._done.append(responses.pop(frame_index))
            if over:
                self._done += requests.values()
                del self._waiting[connection]
        ready, self._done = self._done, []
        yield from ready


def _alone(response: Mapping[str, Any]) -> bool:
    """Return whether a response without an exchange will never have one."""
    metadata = response["said"]
    return metadata is None or json.loads(metadata).get("left") not in _LATER


def frame_row(values: Mapping[str, Any], connection: int, capture: str) -> dict[str, Any]:
    """Return a row of FRAMES from a row of `Frames`; `connection` is its number in the table."""
    key = values.get("key")
    return {
        "api": None if key is None else NAMES.get(key, f"key {key}"),
        **values,
        "capture": capture,
        "connection": connection,
        "ts": values["ts_ns"] // 1000,
    }


def frame_rows(events: Iterable[Event], capture: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of FRAMES of all events of a capture, in memory bounded by frames in flight."""
    frames = Frames()
    conversations = Conversations(strays=True, on_frame=frames.seen)
    for event in events:
        for exchange in conversations.event(event):
            frames.exchange(exchange)
        for row in frames.done(event.connection, over=isinstance(event, Opened | Closed)):
            yield frame_row(row, event.connection, capture)
    for connection in conversations.open:
        for exchange in conversations.end_of(connection):
            frames.exchange(exchange)
        for row in frames.done(connection, over=True):
            yield frame_row(row, connection, capture)
