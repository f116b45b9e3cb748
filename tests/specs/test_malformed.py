"""What Kafka 4.4.0's own parser makes of broken messages, ours makes of them too."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import Malformed
from barnabas.specs.headers import REQUEST_HEADER, RESPONSE_HEADER
from barnabas.specs.message import Message
from tests.places import GOLDEN

MALFORMED = GOLDEN / "malformed.jsonl.gz"
HEADERS = {"RequestHeader": REQUEST_HEADER, "ResponseHeader": RESPONSE_HEADER}


OF_VERSIONS = {
    "version-Metadata-99": "Kafka's data classes read versions that do not exist; LookupError here",
    "version-Metadata--1": "the same",
    "version-LeaderAndIsr-0": "gone from 4.4.0 and kept here; 3.9.1 reads it as we do",
}
"""Cases about which versions there are, not about bytes."""


REGULAR = {
    "array-null-nullable-ok",
    "flex-array-empty",
    "flex-ok-null-array",
    "flex-string-empty-ok",
    "flex-string-len-32767-full-ok",
    "header-v1-clientid-null-ok",
    "header-v2-clientid-int16-null",
    "knowntag-ok",
    "nullable-struct-minus1-ok",
    "nullable-struct-present-ok",
    "records-garbage-accepted-at-message-level",
    "records-null-ok",
    "flex-records-null-ok",
}
"""Cases that Kafka writes itself: nothing is odd about them."""


def cases() -> list[dict[str, Any]]:
    with gzip.open(MALFORMED, "rt") as lines:
        found = [case for case in map(json.loads, lines) if case["kind"] != "records"]
    assert {case["case"] for case in found} >= set(OF_VERSIONS)
    return [case for case in found if case["case"] not in OF_VERSIONS]


def message_of(case: dict[str, Any]) -> Message:
    if case["api"] in HEADERS:
        return HEADERS[case["api"]]
    return specs.api(case["api"]).message(case["direction"])


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case"])
def test_accepted_or_refused_as_kafka_does(case: dict[str, Any]) -> None:
    body = bytes.fromhex(case["hex"])
    codec = message_of(case).codec(case["version"])
    if case["4.4.0"]["accepted"]:
        values, oddities = codec.inspect(body)
        assert repr(codec.decode(body)) == repr(values)
        assert bool(oddities) == (case["case"] not in REGULAR)
        return
    with pytest.raises(specs.Malformed) as caught:
        codec.decode(body)
    assert 0 <= caught.value.offset <= len(body)
    assert caught.value.reason
    with pytest.raises(specs.Malformed):
        codec.inspect(body)


def test_wrong_text_is_replaced_as_java_does() -> None:
    codec = specs.api("Metadata").request.codec(1)
    for raw, text in JAVA.items():
        body = codec.encode({"topics": [{"name": "x" * len(raw)}]}).replace(b"x" * len(raw), raw)
        values, oddities = codec.inspect(body)
        assert values == {"topics": [{"name": text}]}
        assert [(o.path, o.what) for o in oddities] == [("topics[0].name", "invalid UTF-8")]


JAVA = {
    b"a\xed\xa0\x80b": "a\ufffdb",
    b"a\xed\xa0b": "a\ufffdb",
    b"\xed\xb0": "\ufffd",
    b"\xed\x80": "\ufffd",
    b"\xc0\x80": "\ufffd\ufffd",
    b"\xe0\x80\x80": "\ufffd\ufffd\ufffd",
    b"\xe2\x82": "\ufffd",
    b"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
    b"\xf0\x9f\x98": "\ufffd",
    b"\xff": "\ufffd",
}
"""What Java's `new String(bytes, UTF_8)` makes of them (OpenJDK 17)."""


def test_oddities_are_bounded_and_the_rest_is_counted() -> None:
    codec = specs.api("Metadata").request.codec(9)
    plain = codec.encode({"topics": None})
    assert plain[-1] == 0
    count = 5000
    tags = bytes([count & 0x7F | 0x80, count >> 7]) + b"\x05\x00" * count
    values, oddities = codec.inspect(plain[:-1] + tags)
    assert values["_tags"] == {5: b""}
    assert len(oddities) == 1001
    assert oddities[-1].what == f"and {count - 1 - 1000} more oddities"


def test_the_least_compact_length_is_the_largest_one_in_an_int() -> None:
    """-2147483648 less one is 2147483647 in Java, which is more than there is, and not null."""
    body = b"\x80\x80\x80\x80\x08" + bytes(8)
    with pytest.raises(Malformed, match="a string of 2147483647 bytes"):
        specs.api("InitProducerId").request.codec(2).inspect(body)
    values, (odd,) = (
        specs.api("InitProducerId").request.codec(2).inspect(b"\x81\x80\x80\x80\x08" + bytes(5))
    )
    assert (values["transactional_id"], odd.what) == (None, "length -2147483648 for null")
