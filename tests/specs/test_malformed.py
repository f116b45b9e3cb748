"""What Kafka 4.4.0's own parser makes of broken messages, ours makes of them too."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import specs
from specs.declaration import Message
from specs.headers import REQUEST_HEADER, RESPONSE_HEADER

MALFORMED = Path(__file__).parents[1] / "golden" / "malformed.jsonl.gz"
HEADERS = {"RequestHeader": REQUEST_HEADER, "ResponseHeader": RESPONSE_HEADER}


OF_VERSIONS = {
    "version-Metadata-99": "Kafka's data classes read versions that do not exist; LookupError here",
    "version-Metadata--1": "the same",
    "version-LeaderAndIsr-0": "gone from 4.4.0 and kept here; 3.9.1 reads it as we do",
}
"""Cases about which versions there are, not about bytes."""


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
        values, _ = codec.inspect(body)
        assert repr(codec.decode(body)) == repr(values)
        return
    with pytest.raises(specs.Malformed) as caught:
        codec.decode(body)
    assert 0 <= caught.value.offset <= len(body)
    assert caught.value.reason
    with pytest.raises(specs.Malformed):
        codec.inspect(body)
