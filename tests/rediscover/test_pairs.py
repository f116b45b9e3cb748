"""What a finding must look like to be a known bug."""

from __future__ import annotations

import pytest

from barnabas.fuzz.database.findings import Finding
from barnabas.specs.keys import METADATA, PRODUCE
from tests.fuzz.observed import case, observed, request
from tests.rediscover.pairs import PAIRS

PRODUCED = request(PRODUCE, 3, {"acks": 1, "timeout_ms": 9, "topic_data": []})
ASKED = request(METADATA, 1, {"topics": None})

NULL = "java.lang.NullPointerException"
RECORD = (NULL, "kafka.log.LogValidator$.validateRecord")
BESIDE = ("java.lang.IllegalStateException", "org.apache.kafka.common.network.KafkaChannel.f")


def finding(sent: bytes, behaviour: tuple[str, ...], *log: str) -> Finding:
    seen = observed(sent, log=log)
    return Finding(1, "n", "logged", behaviour, "", 1, 0, case(sent).recipe, seen, b"", None)


@pytest.mark.parametrize(
    ("name", "found", "is_it"),
    [
        ("kafka-13149", finding(PRODUCED, RECORD), True),
        ("kafka-13149", finding(PRODUCED, ("Produce", "error_code", *RECORD)), True),
        # another one's null pointer stands in the log of what happened to the connection
        ("kafka-13149", finding(PRODUCED, BESIDE, f"{NULL}\n\tat kafka.Requests.f(R:1)"), False),
        ("kafka-13149", finding(PRODUCED, (NULL, "kafka.Requests.f")), False),
        ("kafka-12701", finding(ASKED, ("Metadata",), NULL), True),
        ("kafka-12701", finding(ASKED, ("Metadata",)), False),
        ("kafka-12701", finding(PRODUCED, RECORD), False),
    ],
)
def test_a_finding_is_the_bug_or_is_not(name: str, found: Finding, is_it: bool) -> None:
    (pair,) = (pair for pair in PAIRS if pair.name == name)
    assert pair.is_it(found) == is_it
