"""`responses`: each request of a connection has one response, in the order of the requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from captures.checks.finding import Evidence, Finding, NoSettings, See, answered, evidence
from captures.context import Context
from captures.context.memory import Memory
from captures.exchange import SASL_TOKEN, STRAY, Exchange

PRODUCE = 0

HOLDS = "all APIs but Produce with acks=0; KafkaProtocol guide, Network; class InFlightRequests"


class _Latest(NamedTuple):
    """The answered request of a connection that was sent last."""

    ordinal: int
    end: int
    packet: int
    losses: int
    evidence: Evidence


def responses(_: NoSettings) -> See:
    """Responses in another order than their requests, without one, and requests passed over."""
    latest: Memory[int, _Latest] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        mine = evidence(exchange)
        if exchange.key == STRAY:
            yield Finding(
                "error",
                f"a response with correlation id {exchange.correlation_id} answers no request",
                "The peer is confused, or something between repeats or invents messages; Java "
                "clients close such a connection.",
                (mine,),
            )
            return
        before, end = latest.get(exchange.connection), answered(exchange)
        if end is None:
            passed_over = before and before.ordinal > exchange.ordinal and _expects(exchange)
            if before and passed_over and before.losses == exchange.losses:
                yield Finding(
                    "error",
                    f"{exchange.api} was never answered, though a later request was",
                    "A broker answers the requests of a connection in their order: look for what "
                    "lost the response.",
                    (mine, before.evidence),
                )
        elif before and before.ordinal > exchange.ordinal:
            # what a proxy sent on changed stands behind its packet's others: there time decides
            if end <= before.end and exchange.response_packet != before.packet:
                return
            yield Finding(
                "error",
                f"the response to {exchange.api} came behind that to a later {before.evidence.api}",
                "A broker answers the requests of a connection in their order, and Java clients "
                "close the connection if not: look for what changed it.",
                (mine, before.evidence),
            )
        else:
            latest[exchange.connection] = _Latest(
                exchange.ordinal, end, exchange.response_packet, exchange.losses, mine
            )

    return see


def _expects(exchange: Exchange) -> bool:
    """Whether a response must come: not to acks=0, and maybe not to the last of raw tokens."""
    if exchange.key == PRODUCE:
        return bool((exchange.request or {}).get("acks", 0))
    return exchange.key != SASL_TOKEN
