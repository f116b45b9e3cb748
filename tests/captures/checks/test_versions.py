"""Requests of a version that was never offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from barnabas.captures.kafka.exchange import SASL_TOKEN, STRAY, Exchange
from barnabas.captures.kafka.notes import NOT_OFFERED
from tests.captures.checks.given import exchange, found, frames, whats


def offer(
    at: float, low: int, high: int, *, version: int = 0, error: int = 0, **more: Any
) -> Exchange:
    keys = [{"api_key": key, "min_version": low, "max_version": high} for key in (3, 18)]
    return exchange(
        "ApiVersions", version, {}, {"error_code": error, "api_keys": keys}, at=at, **more
    )


def metadata(at: float, version: int, **more: Any) -> Exchange:
    asked: dict[str, Any] = {"topics": []}
    if version >= 8:
        asked["include_topic_authorized_operations"] = False
    return exchange("Metadata", version, asked, None, at=at, **more)


def test_a_version_within_the_offer_is_fine() -> None:
    asked = [metadata(5 + version, version) for version in (1, 2, 3)]
    assert found("versions", offer(1, 1, 3), *asked) == []


def test_a_newer_version_an_older_one_and_an_api_that_is_not_offered() -> None:
    other = exchange("ListGroups", 0, {}, None, at=9)
    findings = found("versions", offer(1, 1, 3), metadata(5, 4), metadata(6, 0), other)
    assert whats(findings) == [
        ("error", "Metadata v4 was sent; the broker offers 1 to 3"),
        ("error", "Metadata v0 was sent; the broker offers 1 to 3"),
        ("error", "ListGroups v0 was sent; the broker offers none"),
    ]
    assert frames(findings)[0] == [(11, 12), (51,)]


def narrowed(high: int, to: int, *, rules: tuple[str, ...] = ()) -> Exchange:
    """An offer of versions 1 to `high`, of which the client was told less."""
    told = offer(1, 1, to)
    return replace(told, response_came=offer(1, 1, high).response_body, rules=rules)


def test_what_the_proxy_leaves_out_by_itself_is_nobodys_fault() -> None:
    assert found("versions", narrowed(5, 3), metadata(5, 4)) == []
    (finding,) = found("versions", narrowed(5, 3), metadata(5, 6))
    assert finding.what == "Metadata v6 was sent; the broker offers 1 to 5"


def test_what_a_rule_left_out_was_not_offered() -> None:
    (finding,) = found("versions", narrowed(5, 3, rules=("clamp",)), metadata(5, 4))
    assert finding.what == "Metadata v4 was sent; the broker offers 1 to 3"


def test_what_the_proxy_was_told_not_to_offer_is_refused_as_a_broker_would() -> None:
    refused = replace(metadata(5, 4), note=NOT_OFFERED)
    (finding,) = found("versions", narrowed(5, 3), refused)
    assert finding.what == "Metadata v4 was sent; the proxy was told to offer less"


def test_each_is_said_once() -> None:
    assert len(found("versions", offer(1, 1, 3), metadata(5, 4), metadata(6, 4))) == 1


def test_what_was_sent_before_the_offer_came_could_not_know() -> None:
    assert found("versions", offer(1, 1, 3, took=9), metadata(5, 4)) == []


def test_an_offer_to_another_connection_is_the_same_brokers() -> None:
    assert len(found("versions", offer(1, 1, 3, connection=2), metadata(5, 4))) == 1
    other = offer(1, 1, 3, connection=2, broker=2)
    assert found("versions", other, metadata(5, 4)) == []
    unknown = offer(1, 1, 3, connection=2, broker=None)
    assert found("versions", unknown, metadata(5, 4, broker=None)) == []


def test_the_connections_own_offer_counts_more() -> None:
    offers = (offer(1, 1, 9), offer(2, 1, 3, connection=2))
    assert found("versions", *offers, metadata(5, 4)) == []


def test_what_is_no_request_has_no_version() -> None:
    for key in (STRAY, SASL_TOKEN):
        other = metadata(5, 1)
        other.key = key
        assert found("versions", offer(1, 1, 3), other) == []


def test_an_offer_of_one_version() -> None:
    findings = found("versions", offer(1, 2, 2), metadata(5, 2), metadata(6, 3))
    assert whats(findings) == [("error", "Metadata v3 was sent; the broker offers 2 to 2")]


def test_without_an_offer_nothing_is_known() -> None:
    assert found("versions", metadata(5, 9)) == []
    assert found("versions", offer(1, 0, 0, error=35), metadata(5, 9)) == []


def test_a_new_connection_may_try_a_newer_apiversions_first() -> None:
    again = offer(5, 1, 3, version=4, connection=2)
    again.response_body = None
    assert found("versions", offer(1, 1, 3, connection=1), again) == []
