"""The columns of an exchange: one list for the log, JSON, filters and tables."""

from __future__ import annotations

from typing import Final

COLUMNS: Final = (
    ("ts", "when the request arrived: ISO 8601 in UTC, to the microsecond"),
    ("connection", "number of the client's connection"),
    ("client_address", "the client's ip:port"),
    ("client_id", "the client id in the request's header, or null"),
    ("broker", "node id of the broker, or null while it is not known"),
    ("api", "name of the API, or `key N` if it is unknown"),
    ("key", "key of the API; -1 for a raw SASL token, -3 for a header that can't be read"),
    ("version", "version of the request"),
    ("correlation_id", "correlation id of the request"),
    ("request_size", "bytes of the request's frame without its size"),
    ("response_size", "bytes of the response's frame without its size; null without one"),
    ("latency_ms", "from the request's arrival to the response's departure, as the client sees it"),
    (
        "broker_ms",
        "the broker alone: to the response's arrival, from the request's departure or, "
        "if that is later, the arrival of the response before it",
    ),
    ("error", "name of the first error in the response; empty: none; null: not known"),
    ("rules", "names of the rules that fired on either"),
    ("request", "decoded body of the request; null if it is not kept or can't be decoded"),
    ("response", "decoded body of the response; null if there is none or it can't be decoded"),
)
"""(name, what it is)."""
