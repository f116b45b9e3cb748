"""The APIs and errors of the designs, as the core finds them by key and by name."""

from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.peers import wire
from barnabas.page.declared import about
from barnabas.page.detail import detail
from barnabas.page.fields import body_fields
from barnabas.specs.dialects import dialect
from barnabas.specs.dialects.keys import STEP, error_in, error_in_header, of_key, own_key
from barnabas.specs.registry import name_of

CENTRAL, REWRITE = dialect("central-coordination"), dialect("rewrite-0.8.2")
PING = own_key(CENTRAL, CENTRAL.api("Ping"))
JOIN = own_key(REWRITE, REWRITE.api("JoinGroup"))


def test_keys_are_those_of_published_captures() -> None:
    assert divmod(PING, STEP) == (1, 7)
    assert divmod(JOIN, STEP) == (5, 11)
    assert of_key(PING) == (CENTRAL, CENTRAL.api("Ping"))
    assert name_of(PING) == "Ping"
    assert name_of(STEP + 999) is None


def test_errors_are_the_dialects_or_else_kafkas() -> None:
    heartbeat = own_key(REWRITE, REWRITE.api("Heartbeat"))
    assert error_in(heartbeat, 25) == "UnknownConsumerId"
    assert error_in(heartbeat, 3) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert [error_in_header(key) for key in (PING, heartbeat)] == [True, False]


def test_the_page_declares_them_as_it_does_kafkas() -> None:
    declared = about(PING, 0)
    assert declared is not None
    assert declared["purpose"] == (
        "the coordinator asks the consumer; Central consumer coordination, in 0.7's format"
    )
    assert body_fields()["response.offset_info[].offset"] == "StopFetcher (central-coordination)"
    key = own_key(CENTRAL, CENTRAL.api("StartFetcher"))
    rows = {"offset_info": [{"topic": "t", "partition": "0", "offset": 7}]}
    body = wire.request("StartFetcher", rows)[6:]
    found = detail(0, Exchange(0, 1, "a:1", "c", 1, key, 0, 1, 9, request_body=body), Context())
    assert found["declared"]["purpose"].startswith("the coordinator asks the consumer")
    fields = {each["path"]: each["declared"] for each in found["request"]["fields"]}
    assert fields["offset_info[0].partition"] == "STRING"
    assert fields["offset_info[0].offset"] == "INT64"
