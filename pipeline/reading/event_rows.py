"""Makes rows of the events of connections: exchanges, closed connections, errors.

The reader of one flow uses it, and so does the reader of a growing capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.pipeline.reading.side_tables import missing_reason, shortfalls
from barnabas.pipeline.rows.exchanges import row
from barnabas.pipeline.rows.frames import Frames
from barnabas.pipeline.rows.inside import inside_rows

T = TypeVar("T")

Make = Callable[[str, int, dict[str, Any]], T]
"""A function of a row's kind (exchange, inside, error, connection, loss), the number of its connection and
its values; it returns the reader's result for the row."""


class EventRows(Generic[T]):
    """Makes rows of events, in order.

    `context` learns names; without it, ids stay ids. `frames` receives all frames and exchanges.
    """

    def __init__(
        self,
        make: Make[T],
        columns: tuple[str, ...],
        context: Context | None,
        *,
        capture: str = "",
        frames: Frames | None = None,
    ) -> None:
        self.conversations = Conversations(inferred=True, on_frame=frames.seen if frames else None)
        self.make = make
        self._columns = columns
        self._context = context
        self._capture = capture
        self._frames = frames
        self._connections: dict[int, dict[str, Any]] = {}
        """The values of the open connections."""
        self._software: dict[int, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without `make`, which is a function: the reader sets it again."""
        return {name: value for name, value in vars(self).items() if name != "make"}

    def event(self, event: Event, packet: int = 0) -> Iterator[T]:
        """Yield the rows that an event completes. `packet` is the number of its packet, if known."""
        number = event.connection
        if isinstance(event, Closed):
            yield from self._closing(number, self.conversations.event(event), event.ts_ns)
            if number in self._connections:
                self._connections[number] |= {"closed_ns": event.ts_ns, "reset": event.reset}
                yield from self._connection(number)
            return
        if isinstance(event, Opened):
            self._open(event)
        losses = self.conversations.losses
        for exchange in self.conversations.event(event):
            yield from self._exchange(exchange, event.ts_ns)
        if self.conversations.losses == losses:
            return
        yield self.make("loss", number, {})
        if isinstance(event, Lost):
            yield self._error(
                number, "gap", missing_reason(event.bytes), bytes=event.bytes or None,
                direction=event.direction, ts_ns=event.ts_ns, packet=packet or None,
            )  # fmt: skip
        elif isinstance(event, Chunk):
            yield self._error(
                number, "unframed", "bytes in which no frame was found",
                direction=event.direction, ts_ns=event.ts_ns, packet=event.packet or None,
            )  # fmt: skip

    def end_of(self, number: int) -> Iterator[T]:
        """Yield the last rows of an open connection at the end of the capture."""
        yield from self._closing(number, self.conversations.end_of(number), None)
        yield from self._connection(number)

    def _open(self, event: Opened) -> None:
        comment = event.comment
        broker = None if comment.get("kind") == "controller" else comment.get("broker")
        self._connections[event.connection] = {
            "client_address": comment.get("client", event.client),
            "server_address": event.server,
            "opened_ns": event.ts_ns,
            "whole": event.whole,
            "broker": broker if isinstance(broker, int) else None,
            "comment": comment,
        }
        self._software.pop(event.connection, None)

    def _closing(
        self, number: int, exchanges: Iterable[Exchange], ts_ns: int | None
    ) -> Iterator[T]:
        """Yield the rows at a connection's end: incomplete exchanges, and errors."""
        undecoded, skipped = self.conversations.undecoded, self.conversations.skipped
        for exchange in exchanges:
            yield from self._exchange(exchange, ts_ns)
        for kind, reason, size in shortfalls(self.conversations, undecoded, skipped):
            yield self._error(number, kind, reason, bytes=size, ts_ns=ts_ns)

    def _connection(self, number: int) -> Iterator[T]:
        values = self._connections.pop(number, None)
        self._software.pop(number, None)
        if values is not None:
            yield self.make("connection", number, values)

    def _exchange(self, exchange: Exchange, ts_ns: int | None) -> Iterator[T]:
        number = exchange.connection
        exchange.losses = self.conversations.losses
        if self._frames is not None:
            self._frames.exchange(exchange)
        if exchange.key == STRAY:
            reason = f"a response with correlation id {exchange.correlation_id} without a request"
            yield self._error(
                number, "unmatched", reason, bytes=exchange.response_size,
                direction="response", ts_ns=exchange.ts, packet=exchange.response_packet,
            )  # fmt: skip
            return
        if self._context is not None:
            self._context.learn(exchange)
        if "software" in self._columns and number not in self._software:
            software = software_of(exchange)
            if software is not None:
                self._software[number] = software
        end_ns = ts_ns if exchange.latency_ms is None and exchange.note != UNANSWERED else None
        columns = row(
            exchange,
            self._context,
            capture=self._capture,
            software=self._software.get(number),
            end_ns=end_ns,
            columns=self._columns,
        )
        yield self.make("exchange", number, columns)
        # without this column the bodies need not be decoded
        if self._context is not None and "undecodable" in self._columns:
            for inside in inside_rows(exchange, self._context):
                yield self.make("inside", number, inside)
        if columns.get("undecodable"):
            yield self._error(
                number, "undecoded", columns["undecodable"],
                ts_ns=exchange.ts, packet=exchange.request_packet,
            )  # fmt: skip

    def _error(self, number: int, kind: str, reason: str, **details: Any) -> T:
        return self.make("error", number, {"kind": kind, "reason": reason, **details})


def exchange_rows(
    events: Iterable[Event], context: Context, columns: tuple[str, ...], capture: str
) -> Iterator[dict[str, Any]]:
    """Yield rows of the exchanges of a whole capture, with the names that the context has learnt by then."""

    def exchange_only(kind: str, _: int, values: dict[str, Any]) -> dict[str, Any] | None:
        return values if kind == "exchange" else None

    rows = EventRows(exchange_only, columns, context, capture=capture)
    for event in events:
        yield from filter(None, rows.event(event))
    for number in rows.conversations.open:
        yield from filter(None, rows.end_of(number))
