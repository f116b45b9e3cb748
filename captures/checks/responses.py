"""`responses`: each request of a connection has one response, in the order of the requests."""

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
    """A request that has ended, answered or not."""

    ordinal: int
    end: int
    packet: int
    losses: int
    evidence: Evidence


class _Responses:
    """Finds responses out of order or without a request, and requests without a response."""

    def __init__(self, _: NoSettings) -> None:
        self._latest: Memory[int, _Ended] = Memory()
        """By connection: the answered request that was sent last."""
        self._given_up: Memory[int, _Ended] = Memory()
        """By connection: the request without a response that was sent last."""

    def __call__(self, exchange: Exchange, context: Context) -> Iterator[Finding]:
        """See an exchange."""
        if exchange.key == STRAY:
            yield _stray(exchange)
            return
        if NOT_CAPTURED in exchange.note:
            return  # it stood in a gap
        end = exchange.answered
        mine = _Ended(
            exchange.ordinal,
            0 if end is None else end,
            exchange.response_packet,
            exchange.losses,
            evidence(exchange),
        )
        if end is not None:
            yield from self._answered(exchange.connection, mine)
        elif _expects(exchange):
            yield from self._unanswered(exchange.connection, mine)

    def _unanswered(self, connection: int, mine: _Ended) -> Iterator[Finding]:
        before = self._latest.get(connection)
        if before is None or before.ordinal < mine.ordinal:
            self._given_up[connection] = mine
        elif before.losses == mine.losses:
            yield _passed_over(mine, before)

    def _answered(self, connection: int, mine: _Ended) -> Iterator[Finding]:
        before, waits = self._latest.get(connection), self._given_up.get(connection)
        if waits is not None and waits.ordinal < mine.ordinal:
            del self._given_up[connection]
            if waits.losses == mine.losses:
                yield _passed_over(waits, mine)
        # behind a gap requests are numbered anew
        if before is None or before.losses != mine.losses or before.ordinal <= mine.ordinal:
            self._latest[connection] = mine
        # what a proxy sent on changed stands behind the others of its packet: there time decides
        elif mine.end > before.end or mine.packet == before.packet:
            yield _overtaken(mine, before)


def _stray(exchange: Exchange) -> Finding:
    return Finding(
        "error",
        f"a response with correlation id {exchange.correlation_id} belongs to no request in flight",
        "The peer is faulty, or something in between repeats or inserts messages; Java clients "
        "close such a connection.",
        (evidence(exchange),),
    )


def _passed_over(mine: _Ended, later: _Ended) -> Finding:
    return Finding(
        "error",
        f"{mine.evidence.api} got no response, though a later request on its connection did",
        "A broker answers the requests of a connection in order: look for what lost the request "
        "or its response.",
        (mine.evidence, later.evidence),
    )


def _overtaken(mine: _Ended, later: _Ended) -> Finding:
    return Finding(
        "error",
        f"the response to {mine.evidence.api} came after the response to a later "
        f"{later.evidence.api}",
        "A broker answers the requests of a connection in order, and Java clients close the "
        "connection otherwise: look for what reordered the responses.",
        (mine.evidence, later.evidence),
    )


def _expects(exchange: Exchange) -> bool:
    """Whether a response must come: not to acks=0, and maybe not to the last of raw tokens."""
    if exchange.key == PRODUCE:
        return bool(ACKS.of(exchange))
    return exchange.key not in HEADLESS


CHECK: Final = Check(
    "responses", NoSettings(), _Responses,
    "responses out of order or without a request; requests without a response",
    "all APIs but Produce with acks=0; KafkaProtocol guide, Network; Java's InFlightRequests",
)  # fmt: skip
