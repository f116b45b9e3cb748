from __future__ import annotations

from typing import Any

import pytest

from barnabas import specs
from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.columns import NUMBERS
from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.captures.kafka.filters import FAILED, exchange_filter
from barnabas.captures.kafka.notes import UNANSWERED
from tests.places import SAMPLES


def exchange(**changes: Any) -> Exchange:
    request = specs.api("Metadata").request.codec(1).encode({"topics": [{"name": "orders"}]})
    found = Exchange(0, 7, "127.0.0.1:5", "me", 2, 3, 1, 9, 20, 40, 120.5, 100.0, ("slow",))
    found.request_body = request
    found.response_body = specs.api("Metadata").response.codec(1).encode({"controller_id": 1})
    for name, value in changes.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("api == 'Metadata'", True),
        ("api == 'Produce' && latency_ms > 100", False),
        ("api == 'Metadata' && latency_ms > 100", True),
        ("latency_ms > 120.5", False),
        ("error == ''", True),
        ("contains(rules, 'slow')", True),
        ("rules", True),
        ("topics == ['orders']", True),
        ("contains(topics, 'orders')", True),
        ("contains(topics, 'order')", False),
        ("request.topics[?name == 'orders']", True),
        ("request.topics[?name == 'clicks']", False),
        ("response.controller_id == 1", True),
        ("response_size > request_size", True),
        ("key == 3 && version < 2 && broker == 2", True),
        ("length(client_id) == 2", True),
    ],
)
def test_what_passes(text: str, passes: bool) -> None:
    assert exchange_filter(text)(exchange()) is passes


@pytest.mark.parametrize(
    ("name", "changes", "passes"),
    [
        ("rule", {}, True),
        ("fine", {"rules": ()}, False),
        ("error", {"rules": (), "error": "NOT_CONTROLLER"}, True),
        ("new member", {"rules": (), "key": 11, "error": "MEMBER_ID_REQUIRED"}, False),
        ("rebalance", {"rules": (), "key": 12, "error": "REBALANCE_IN_PROGRESS"}, False),
        ("another API", {"rules": (), "key": 0, "error": "UNSUPPORTED_VERSION"}, True),
        ("versions", {"rules": (), "key": 18, "error": "UNSUPPORTED_VERSION"}, False),
        ("no response", {"rules": (), "error": None, "note": "no response: gone"}, True),
        ("acks=0", {"rules": (), "error": None, "note": UNANSWERED}, False),
        ("token", {"rules": (), "key": SASL_TOKEN, "error": None}, False),
    ],
)
def test_what_has_failed(name: str, changes: dict[str, Any], passes: bool) -> None:
    error = changes.pop("error", "")
    failed = exchange(**changes)
    failed.set_error(error)
    assert exchange_filter(FAILED)(failed) is passes, name


def test_what_cannot_be_decided_does_not_pass() -> None:
    assert not exchange_filter("length(client_id) > 0")(exchange(client_id=None))
    assert not exchange_filter("latency_ms > 5")(exchange(latency_ms=None))


def test_bodies_are_decoded_only_if_they_are_asked_for() -> None:
    one = exchange(response_body=b"?")
    assert exchange_filter("api == 'Metadata'")(one)
    assert one._decoded == {}
    assert not exchange_filter("response.brokers")(one)
    assert set(one._decoded) == {"response"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("latency > 5", "exchanges have no column 'latency'; did you mean 'latency_ms'?"),
        ("api = 'Fetch'", "'api = 'Fetch'' does not compile: Unknown token '=' at column 5"),
        ("", "'' does not compile: it is empty"),
        ("latency_ms > 'x'", "'x' is neither more nor less than a number"),
    ],
)
def test_what_can_not_be_meant(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        exchange_filter(text)
    assert str(caught.value).replace('"', "'") == problem.replace('"', "'").replace("\\", "")


def test_times_and_other_text_have_an_order() -> None:
    one = exchange(ts=1_500_000_000_000_000_000, client_id="m")
    assert exchange_filter("ts > '2017-07' && client_id < 'n'")(one)
    assert not exchange_filter("ts > '2018'")(one)


def test_which_columns_hold_numbers() -> None:
    rows = [one.row() for one in open_capture(SAMPLES / "faults.pcapng").exchanges()]
    found = {name for row in rows for name, value in row.items() if type(value) in (int, float)}
    assert found == NUMBERS
    assert all(type(row[name]) in (int, float, type(None)) for row in rows for name in NUMBERS)
