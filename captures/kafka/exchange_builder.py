"""From a request that waited to its exchange: used by the proxy and by all that reads captures."""

from __future__ import annotations

from barnabas.captures.kafka.exchange import Exchange, Pending


def outcome(
    pending: Pending,
    *,
    connection: int,
    client_address: str,
    server_address: str = "",
    broker: int | None,
    received: int | None = None,
    answered: int | None = None,
    response_size: int | None = None,
    response_body: bytes | None = None,
    rules: tuple[str, ...] = (),
    note: str = "",
    payload: dict[str, str] | None = None,
    packet: int = 0,
) -> Exchange:
    """What came of a request.

    `received` is when the response came from the broker, `answered` when it left to the client (ns
    since the epoch); both are None without a response. `rules` are those that touched the response,
    `packet` is the number of its last in a capture file.
    """
    return Exchange(
        ts=pending.arrived,
        connection=connection,
        client_address=client_address,
        client_id=pending.client_id,
        broker=broker,
        key=pending.key,
        version=pending.version,
        correlation_id=pending.correlation_id,
        request_size=pending.size,
        response_size=response_size,
        latency_ms=None if answered is None else (answered - pending.arrived) / 1e6,
        broker_ms=None if received is None else (received - max(pending.sent, pending.begun)) / 1e6,
        rules=tuple(dict.fromkeys(pending.rules + rules)),
        request_body=pending.body if pending.uncut is None else pending.uncut.cut(),
        response_body=response_body,
        note="; ".join(filter(None, (pending.note, note))),
        sasl=pending.sasl,
        payload={
            direction: hashes
            for direction, hashes in (("request", pending.payload), ("response", payload))
            if hashes
        },
        request_packet=pending.packet,
        response_packet=packet,
        ordinal=pending.ordinal,
        server_address=server_address,
        begun=pending.begun if pending.begun > pending.sent else 0,
        request_place=pending.request_place,
        response_place=pending.response_place,
    )
