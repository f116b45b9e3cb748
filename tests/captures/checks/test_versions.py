from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import SASL_TOKEN, STRAY, Exchange
from barnabas.captures.kafka.notes import NOT_OFFERED
from tests.captures.checks.given import descriptions, evidence_packets, exchange, findings_of


def offer(
    at: float, low: int, high: int, *, version: int = 0, error: int = 0, **more: Any
) -> Exchange:
    keys = [{"api_key": key, "min_version": low, "max_version": high} for key in (3, 18)]
    answer = {"error_code": error, "api_keys": keys}
    return exchange("ApiVersions", version, {}, answer, at=at, **more)


def metadata(at: float, version: int, **more: Any) -> Exchange:
    return exchange("Metadata", version, {"topics": []}, None, at=at, **more)


def narrowed(high: int, to: int, *, rules: tuple[str, ...] = ()) -> Exchange:
    """Make an ApiVersions with versions 1 to `high`, of which the client got fewer."""
    came = offer(1, 1, high).response_body
    return replace(offer(1, 1, to), response_came=came, rules=rules)


OFFER = offer(1, 1, 3)


FOUND = {
    "a newer and an older version": (
        [OFFER, metadata(5, 4), metadata(6, 0)],
        ["Metadata v4 was sent; the broker offers 1 to 3", "Metadata v0 was sent; the broker offers 1 to 3"],
    ),
    "not offered": (
        [OFFER, exchange("ListGroups", 0, {}, None, at=9)],
        ["ListGroups v0 was sent; the broker offers none"],
    ),
    "once": ([OFFER, metadata(5, 4), metadata(6, 4)], ["Metadata v4 was sent; the broker offers 1 to 3"]),
    "one version": (
        [offer(1, 2, 2), metadata(5, 2), metadata(6, 3)], ["Metadata v3 was sent; the broker offers 2 to 2"],
    ),
    "offered to another connection by the same broker": (
        [offer(1, 1, 3, connection=2), metadata(5, 4)], ["Metadata v4 was sent; the broker offers 1 to 3"],
    ),
    "more than the broker offers": (
        [narrowed(5, 3), metadata(5, 6)], ["Metadata v6 was sent; the broker offers 1 to 5"],
    ),
    "a rule left it out": (
        [narrowed(5, 3, rules=("clamp",)), metadata(5, 4)],
        ["Metadata v4 was sent; the broker offers 1 to 3"],
    ),
    "refused by the proxy as a broker would": (
        [narrowed(5, 3), replace(metadata(5, 4), note=NOT_OFFERED)],
        ["Metadata v4 was sent; the proxy was told to offer less"],
    ),
    "sent when the offer came": ([OFFER, metadata(2, 4)], ["Metadata v4 was sent; the broker offers 1 to 3"]),
    "within the offer": ([OFFER, *(metadata(5 + n, n) for n in (1, 2, 3))], []),
    # what the proxy leaves out by itself is nobody's fault
    "narrowed by the proxy": ([narrowed(5, 3), metadata(5, 4)], []),
    "sent before the offer came": ([offer(1, 1, 3, took=9), metadata(5, 4)], []),
    "other broker": ([offer(1, 1, 3, connection=2, broker=2), metadata(5, 4)], []),
    "unknown broker": ([offer(1, 1, 3, connection=2, broker=None), metadata(5, 4, broker=None)], []),
    "its own offer counts more": ([offer(1, 1, 9), offer(2, 1, 3, connection=2), metadata(5, 4)], []),
    "stray response": ([OFFER, replace(metadata(5, 1), key=STRAY)], []),
    "raw token": ([OFFER, replace(metadata(5, 1), key=SASL_TOKEN)], []),
    "no offer": ([metadata(5, 9)], []),
    "refused offer": ([offer(1, 0, 0, error=35), metadata(5, 9)], []),
    "newer ApiVersions first": (
        [OFFER, replace(offer(5, 1, 3, version=4, connection=2), response_body=None)], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "texts"), FOUND.values(), ids=FOUND)
def test_what_is_found(exchanges: list[Exchange], texts: list[str]) -> None:
    assert descriptions(findings_of("versions", *exchanges)) == [("error", text) for text in texts]


def test_the_evidence_is_the_offer_and_the_request() -> None:
    assert evidence_packets(findings_of("versions", OFFER, metadata(5, 4))) == [[(11, 12), (51,)]]
