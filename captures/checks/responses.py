"""Check `responses`: each request of a connection gets one response, in request order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.captures.checks.facts import ACKS
from barnabas.captures.checks.finding import (
    Check,
    Evidence,
    Finding,
    NoSettings,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import HEADLESS, STRAY, Exchange
from barnabas.captures.kafka.notes import NOT_CAPTURED
from barnabas.specs.keys import PRODUCE


class _Ended(NamedTuple):
    """A request that has ended, with or without a response."""

    ordinal: int
    end: int
    packet: int
    losses: int
    evidence: Evidence


class _Responses:
    """Finds responses out of order or without a request, and requests without a response."""

    def __init__(self, _: NoSettings) -> None:
        self._latest: Memory[int, _Ended] = Memory()
        """By connection: the latest request that got a response."""
        self._without_response: Memory[int, _Ended] = Memory()
        """By connection: the latest request without a response."""

    def __call__(self, exchange: Exchange, context: Context) -> Iterator[Finding]:
        """Inspect an exchange."""
        if exchange.key == STRAY:
            yield _stray(exchange)
            return
        if NOT_CAPTURED in exchange.note:
            return  # it was in a gap
        end = exchange.answered
        ended = _Ended(
            exchange.ordinal,
            0 if end is None else end,
            exchange.response_packet,
            exchange.losses,
            evidence(exchange),
        )
        if end is not None:
            yield from self._answered(exchange.connection, ended)
        elif _expects(exchange):
            yield from self._unanswered(exchange.connection, ended)

    def _unanswered(self, connection: int, ended: _Ended) -> Iterator[Finding]:
        before = self._latest.get(connection)
        if before is None or before.ordinal < ended.ordinal:
            self._without_response[connection] = ended
        elif before.losses == ended.losses:
            yield _passed_over(ended, before)

    def _answered(self, connection: int, ended: _Ended) -> Iterator[Finding]:
        before, waits = self._latest.get(connection), self._without_response.get(connection)
        if waits is not None and waits.ordinal < ended.ordinal:
            del self._without_response[connection]
            if waits.losses == ended.losses:
                yield _passed_over(waits, ended)
        # after a gap the numbers of requests restart
        if before is None or before.losses != ended.losses or before.ordinal <= ended.ordinal:
            self._latest[connection] = ended
        # a changed response follows the others of its packet in the capture: compare times there
        elif ended.end > before.end or ended.packet == before.packet:
            yield _overtaken(ended, before)


def _stray(exchange: Exchange) -> Finding:
    return Finding(
        "error",
        f"a response with correlation id {exchange.correlation_id} belongs to no request in flight",
        "The peer is faulty, or something in between repeats or inserts messages; Java clients "
        "close such a connection.",
        (evidence(exchange),),
    )


def _passed_over(earlier: _Ended, later: _Ended) -> Finding:
    return Finding(
        "error",
        f"{earlier.evidence.api} got no response, though a later request on its connection did",
        "A broker answers the requests of a connection in order: look for what lost the request "
        "or its response.",
        (earlier.evidence, later.evidence),
    )


def _overtaken(earlier: _Ended, later: _Ended) -> Finding:
    return Finding(
        "error",
        f"the response to {earlier.evidence.api} came after the response to a later "
        f"{later.evidence.api}",
        "A broker answers the requests of a connection in order, and Java clients close the "
        "connection otherwise: look for what reordered the responses.",
        (earlier.evidence, later.evidence),
    )


def _expects(exchange: Exchange) -> bool:
    """Return whether a response must follow: not after acks=0, and maybe not after the last raw token."""
    if exchange.key == PRODUCE:
        return bool(ACKS.of(exchange))
    return exchange.key not in HEADLESS


CHECK: Final = Check(
    "responses", NoSettings(), _Responses,
    "responses out of order or without a request; requests without a response",
    "all APIs but Produce with acks=0; KafkaProtocol guide, Network; Java's InFlightRequests",
)  # fmt: skip
