from __future__ import annotations

import re

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.search import Match, search
from barnabas.specs import api, records
from barnabas.specs.records import Record

RECORDS = records.build(
    [Record(0, 1, b"k1", b"first", (("trace", b"abc"),)), Record(1, 1, None, b"second")],
    compression="gzip",
)
PARTITION = {"index": 3, "records": RECORDS}
PRODUCE = Exchange(
    0, 1, "127.0.0.1:1", "shop", 2, 0, 9, 0, 12,
    request_body=api("Produce").request.codec(9).encode(
        {"topic_data": [{"name": "orders", "partition_data": [PARTITION]}]}
    ),
    rules=("slow",),
    note="gone",
)  # fmt: skip
WHERE = "request.topic_data[0].partition_data[0].records"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^orders$", [("request.topic_data[0].name", "orders")]),
        ("first|second", [(f"{WHERE}[0].value", "first"), (f"{WHERE}[1].value", "second")]),
        ("abc", [(f"{WHERE}[0].headers[0][1]", "abc")]),
        ("^k1", [(f"{WHERE}[0].key", "k1")]),
        ("shop", [("client_id", "shop")]),
        ("slow|gone", [("note", "gone"), ("rules[0]", "slow")]),
        ("^3$", [("request.topic_data[0].partition_data[0].index", "3")]),
        ("third", []),
    ],
)
def test_where_a_text_stands(pattern: str, found: list[tuple[str, str]]) -> None:
    expected = [Match(*place) for place in found]
    assert list(search(PRODUCE, Context(), re.compile(pattern))) == expected


def test_secrets_are_not_looked_into() -> None:
    body = api("SaslAuthenticate").request.codec(1).encode({"auth_bytes": b"\0bob\0hunter2"})
    found = Exchange(0, 1, "", None, None, 36, 1, 0, 12, request_body=body)
    assert list(search(found, Context(), re.compile("hunter2"))) == []


def test_what_hides_inside_bytes_is_found() -> None:
    metadata = api("JoinGroup")
    inside = bytes.fromhex("0001 00000001 0006") + b"orders" + bytes.fromhex("ffffffff 00000000")
    body = metadata.request.codec(5).encode(
        {
            "group_id": "g",
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": inside}],
        }
    )
    found = Exchange(0, 1, "", None, None, 11, 5, 0, 12, request_body=body)
    paths = [place.path for place in search(found, Context(), re.compile("^orders$"))]
    assert paths == ["inside.request.protocols[0].metadata.values.topics[0]"]
