"""Exchanges of the rewrite, decoded with the rewrite's layouts instead of Kafka's.

A capture that is read as the rewrite's has its APIs under keys of their own. It may also be read as Kafka's
traffic, since the headers are Kafka's.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.consumer_rewrite.peers.wire import error_name
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.malformed import Malformed

_APIS: Final = {
    key: api
    for api in REWRITE_0_8_2.apis
    if api.name in ("JoinGroup", "Heartbeat", "OffsetCommit", "LeaveGroup")
    for key in (api.key, own_key(REWRITE_0_8_2, api))
}


class Step(NamedTuple):
    """A consumer's request and its response."""

    api: str
    request: dict[str, Any]
    response: dict[str, Any]
    answer: str
    """The rewrite's name of the error, or NONE; of several the first."""
    end: int
    """The arrival of the response at the consumer, in ns since the epoch."""


def step(exchange: Exchange) -> Step | None:
    """Decode an exchange of the rewrite; None: it is incomplete, or of another protocol."""
    api, end = _APIS.get(exchange.key), exchange.answered
    request, response = exchange.request_body, exchange.response_body
    if api is None or exchange.version != api.version or None in (request, response, end):
        return None
    assert request is not None and response is not None and end is not None  # noqa: S101, PT018
    try:
        request_body = api.request.codec(api.version).decode(request)
        came = api.responses[0].codec(api.version).decode(response)
    except Malformed:
        return None
    if api.name == "OffsetCommit":
        codes = [
            partition["error_code"]
            for of in came["responses"]
            for partition in of["partition_responses"]
        ]
    else:
        codes = [came["error_code"]]
    code = next(filter(None, codes), 0)
    return Step(api.name, request_body, came, error_name(code), end)
