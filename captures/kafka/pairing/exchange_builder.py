"""Makes the exchange of a request that was in flight, for the proxy and for readers of captures."""

from __future__ import annotations

from barnabas.captures.kafka.exchange import Exchange, Uncut
from barnabas.captures.kafka.pairing.in_flight import Pending


def build_exchange(
    pending: Pending,
    connection: int,
    client_address: str,
    broker: int | None,
    controller: int | None = None,
    server_address: str = "",
    proxied: bool = True,
    received: int | None = None,
    answered: int | None = None,
    response_size: int | None = None,
    response_body: bytes | None = None,
    packet: int = 0,
    uncut: Uncut | None = None,
    rules: tuple[str, ...] = (),
    note: str = "",
    payload: dict[str, str] | None = None,
) -> Exchange:
    """What came of a request.

    `received` is when the response came from the broker, `answered` when it left to the client (ns
    since the epoch); both are None without a response. `proxied`: whether it is known when the request
    left. `packet` is the number of its last one in a capture file, `uncut` its body where it is not cut
    out yet, and `rules` are those that touched it. `controller` is asked in place of a broker.
    """
    arrived, sent, begun = pending.arrived, pending.sent, pending.begun
    if begun <= sent:
        begun = 0
    hashes = {}
    if pending.payload:
        hashes["request"] = pending.payload
    if payload:
        hashes["response"] = payload
    # by their places: this is done for every exchange of a capture, and names cost as much as all else
    exchange = Exchange(
        arrived,
        connection,
        client_address,
        pending.client_id,
        broker,
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
        server_address,
        pending.request_place,
        pending.response_place,
        begun,
        sent if proxied else None,
    )
    if pending.uncut is not None:
        exchange.leave("request_body", pending.uncut)
    if uncut is not None:
        exchange.leave("response_body", uncut)
    exchange.request_left = pending.left
    if controller is not None:
        exchange.controller = controller
    return exchange
