"""What a finding must look like to be a known bug."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.fuzz.cases.observation import SPINS, Death
from barnabas.fuzz.database.findings import Finding
from barnabas.specs.keys import JOIN_GROUP, METADATA, PRODUCE
from tests.fuzz.observed import case, observed, request
from tests.rediscover.pairs import ALL, PAIRS

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


JOINS = request(JOIN_GROUP, 5, {"group_id": "g", "protocols": []})
JOINED = finding(JOINS, ("JoinGroup", "computes"))
HANGS = replace(
    JOINED,
    oracle="client-hung",
    observation=replace(JOINED.observation, facts=((SPINS, True),)),
)
PANIC = "panic: slice bounds out of range\nkgo.aborter.trackAbortedPID"


def died(last_words: str) -> Finding:
    other = finding(ASKED, ("panic",))
    return replace(other, observation=replace(other.observation, death=Death(2, last_words)))


def answered(reply: bytes) -> Finding:
    other = finding(ASKED, ("error",))
    return replace(other, observation=replace(other.observation, replies=(reply,)))


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (HANGS, {"librdkafka-sticky-loop"}),
        (replace(HANGS, oracle="client-died"), set()),
        (replace(JOINED, oracle="client-hung"), set()),
        (died(PANIC), {"franz-abort-marker"}),
        (died("panic: kbin.ensureLen"), {"franz-record-count"}),
        (died("panic: something else"), {"franz-batch-length"}),
        (answered(b"Cannot invoke MemberAssignment.targetPartitions()"), {"kafka-16930"}),
        (replace(finding(ASKED, ("", "")), oracle="client-wrong-data"), {"franz-aborted-order"}),
    ],
)
def test_a_finding_is_one_pair_of_its_campaign(found: Finding, names: set[str]) -> None:
    pairs = (pair for pair in ALL if "sarama" not in pair.name and "python" not in pair.name)
    assert {pair.name for pair in pairs if pair.is_it(found)} == names


def test_pairs_have_names_of_their_own() -> None:
    assert len({pair.name for pair in ALL}) == len(ALL)
