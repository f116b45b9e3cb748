"""A decoded exchange of a design, for experiments and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from barnabas.captures.kafka.dialect_conversations import error_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.dialects import Dialect
from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.frames import Direction
from barnabas.specs.registry import NAMES


@dataclass(slots=True)
class DialectExchange:
    """A request of either side and its response, decoded."""

    ts: int
    connection: int
    client: str
    """The connected client: its client id, else its consumer id, else ip:port."""
    broker: int | None
    asked_by: Direction
    """"request": the client sends the request, as usual; "response": the broker does."""
    api: str
    request: dict[str, Any]
    end: int | None = None
    """The arrival of the response; None: there was none."""
    response: dict[str, Any] | None = None
    error: str | None = None
    """The design's name of it; empty: no error; None: no response."""
    rules: tuple[str, ...] = ()
    note: str = ""

    @property
    def latency_ms(self) -> float | None:
        """Return the ms from the request's arrival to the response's."""
        return None if self.end is None else (self.end - self.ts) / 1e6

    @classmethod
    def of_dialect(cls, dialect: Dialect, exchange: Exchange) -> Self | None:
        """Decode an exchange; None if it is of another dialect, or its request can't be decoded."""
        is_of_dialect = exchange.key // STEP == dialect.number and exchange.request is not None
        return cls.of(exchange) if is_of_dialect else None

    @classmethod
    def of(cls, exchange: Exchange) -> Self:
        """Decode an exchange, of which both bodies must be readable."""
        latency, is_of_dialect = exchange.latency_ms, exchange.key not in NAMES
        whole = exchange.response_body is not None  # else an error in the header, or nothing
        return cls(
            exchange.ts,
            exchange.connection,
            exchange.client,
            exchange.broker,
            "response"
            if is_of_dialect and of_key(exchange.key)[1].asker == "coordinator"
            else "request",
            exchange.api,
            exchange.request or {},
            None if latency is None else exchange.ts + round(latency * 1e6),
            (exchange.response or {}) if whole else None,
            error_of(exchange),
            exchange.rules,
            exchange.note if latency is None or whole else "",
        )
