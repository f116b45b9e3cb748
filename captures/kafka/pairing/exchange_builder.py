"""Build the exchange of a request that was in flight, for the proxy and for readers of captures."""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.pairing.in_flight import Pending


class Link(NamedTuple):
    """The connection of an exchange: see `Exchange` for all fields but `proxied`."""

    connection: int
    client_address: str
    broker: int | None
    controller: int | None = None
    server_address: str = ""
    proxied: bool = True
    """Whether it is known when a request left for the broker."""


class Outcome(NamedTuple):
    """The response to a request, or the reason for its absence. Times are ns since the epoch."""

    received: int | None = None
    """When the response arrived from the broker; None: no response."""
    answered: int | None = None
    """When the response left to the client; None: never."""
    response_size: int | None = None
    response_body: bytes | None = None
    packet: int = 0
    """Number of the response's last packet in a capture file."""
    rules: tuple[str, ...] = ()
    """Rules that fired on the response."""
    note: str = ""
    payload: dict[str, str] | None = None
    """Hashes in place of the response's payload, by path."""


UNANSWERED: Final = Outcome()
"""No response, and no note."""


def build_exchange(pending: Pending, link: Link, outcome: Outcome = UNANSWERED) -> Exchange:
    """Build the exchange of a request on a connection and its outcome."""
    received, answered, response_size, response_body, packet, rules, note, payload = outcome
    arrived, sent, begun = pending.arrived, pending.sent, pending.begun
    if begun <= sent:
        begun = 0
    hashes = {}
    if pending.payload:
        hashes["request"] = pending.payload
    if payload:
        hashes["response"] = payload
    # positional: this runs for every exchange of a capture, and keywords would double its time
    exchange = Exchange(
        arrived,
        link.connection,
        link.client_address,
        pending.client_id,
        link.broker,
        pending.key,
        pending.version,
        pending.correlation_id,
        pending.size,
        response_size,
        None if answered is None else (answered - arrived) / 1e6,
        None if received is None else (received - (begun or sent)) / 1e6,
        tuple(dict.fromkeys(pending.rules + rules)) if pending.rules or rules else (),
        pending.body,
        response_body,
        f"{pending.note}; {note}" if pending.note and note else pending.note or note,
        pending.sasl,
        pending.user,
        hashes,
        pending.packet,
        packet,
        pending.ordinal,
        link.server_address,
        pending.request_place,
        pending.response_place,
        begun,
        sent if link.proxied else None,
    )
    exchange.request_left = pending.request_left
    exchange.controller = link.controller
    return exchange
