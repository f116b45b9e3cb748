from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.captures.kafka.expression import Unclear
from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.matching.message import Message
from barnabas.specs.frames import Direction
from tests.bodies import reassignments
from tests.proxy.faults.given import message


def made(**settings: Any) -> Match:
    return Match.model_validate(settings)


@pytest.mark.parametrize(("match", "kind", "meets"), [
    (made(), ("request", 12345, -1), True),
    (made(api="Fetch"), ("request", 1, 11), True),
    (made(api="FETCH"), ("response", 1, 0), True),
    (made(api="Fetch"), ("request", 0, 11), False),
    (made(api=1), ("request", 1, 11), True),
    (made(api=("Fetch", 0)), ("request", 0, 11), True),
    (made(direction="request"), ("request", 1, 0), True),
    (made(direction="request"), ("response", 1, 0), False),
    (made(version=11), ("request", 1, 11), True),
    (made(version="11"), ("request", 1, 12), False),
    (made(version="3-9"), ("request", 1, 2), False),
    (made(version="3-9"), ("request", 1, 3), True),
    (made(version="3-9"), ("request", 1, 9), True),
    (made(version="3-9"), ("request", 1, 10), False),
    (made(version="12+"), ("request", 1, 12), True),
    (made(version="12+"), ("request", 1, 11), False),
    (made(error=3), ("request", 1, 11), False),
    (made(error=3), ("response", 1, 11), True),
    (made(error=3), ("response", 12345, 0), False),
    (made(acks=1), ("request", 0, 3), True),
    (made(acks=1), ("response", 0, 3), False),
    (made(acks=1), ("request", 1, 3), False),
    (made(topic="t"), ("request", 12, 1), False),
    (made(partition=1), ("request", 12, 1), False),
    (made(partition=1), ("request", 1, 4), True),
])  # fmt: skip
def test_kinds_of_message(match: Match, kind: tuple[Direction, int, int], meets: bool) -> None:
    assert match.key_matches(*kind) is meets


@pytest.mark.parametrize(("match", "peer", "meets"), [
    (made(), (None, None, 0), True),
    (made(client_id="orders-*"), ("orders-1", 1, 0), True),
    (made(client_id="orders-*"), ("Orders-1", 1, 0), False),
    (made(client_id="orders"), ("orders-1", 1, 0), False),
    (made(client_id="*"), (None, 1, 0), False),
    (made(client_id=("a", "b?")), ("b1", 1, 0), True),
    (made(broker=1), (None, 1, 0), True),
    (made(broker=1), (None, 2, 0), False),
    (made(broker=1), (None, None, 0), False),
    (made(broker=(1, 2)), (None, 2, 0), True),
    (made(broker=1, client_id="a"), ("b", 1, 0), False),
    (made(connection=1), ("me", 1, 1), True),
    (made(connection=(0, 1)), ("me", 1, 1), True),
    (made(connection=0), ("me", 1, 1), False),
])  # fmt: skip
def test_peers(match: Match, peer: tuple[str | None, int | None, int], meets: bool) -> None:
    assert match.peer_matches(*peer) is meets


FETCH = message(
    "Fetch", "request", 11, topics=[{"topic": "orders"}], forgotten_topics_data=[{"topic": "old"}]
)
COMMIT = message("OffsetCommit", "request", 7, group_id="billing", topics=[{"name": "orders"}])
END = message("EndTxn", "request", 3, transactional_id="tx-1")
ANSWER = message("OffsetCommit", "response", 7, topics=[{"partitions": [{"error_code": 27}]}])
ANSWER.request = COMMIT.body
PRODUCE = replace(message("Produce", "request", 7), acks=-1)
BROKEN = replace(message("Fetch", "request", 11), body=b"?")
EXACT = FETCH.size + 4


@pytest.mark.parametrize(("match", "subject", "meets"), [
    (made(topic="orders"), FETCH, True),
    (made(topic="ord*"), FETCH, True),
    (made(topic="old"), FETCH, True),
    (made(topic=("x", "old")), FETCH, True),
    (made(topic="Orders"), FETCH, False),
    (made(topic="*"), message(), False),
    (made(topic="*"), BROKEN, False),
    (made(group="bill*"), COMMIT, True),
    (made(group="bill*", topic="orders"), COMMIT, True),
    (made(group="bill*", topic="clicks"), COMMIT, False),
    (made(group="billing"), FETCH, False),
    (made(partition=3), FETCH, False),
    (made(transactional_id="tx-*"), END, True),
    (made(transactional_id="ty-*"), END, False),
    (made(group="billing"), ANSWER, True),  # by its request
    (made(error="REBALANCE_IN_PROGRESS"), ANSWER, True),
    (made(error=(3, 27)), ANSWER, True),
    (made(error="NONE"), ANSWER, False),
    (made(error="NONE"), message("Heartbeat", "response"), True),
    (made(error=27), COMMIT, False),
    (made(acks="all"), PRODUCE, True),
    (made(acks=(0, 1)), PRODUCE, False),
    (made(acks=0), FETCH, False),
    (made(size={"at_least": f"{EXACT}B"}), FETCH, True),
    (made(size={"at_least": f"{EXACT + 1}B"}), FETCH, False),
    (made(size={"at_most": f"{EXACT}B"}), FETCH, True),
    (made(size={"at_least": "1B", "at_most": f"{EXACT - 1}B"}), FETCH, False),
])  # fmt: skip
def test_content(match: Match, subject: Message, meets: bool) -> None:
    assert match.content_matches(subject) is meets
    assert match.matches(subject) is meets
    assert match.needs_body is any((match.entities, match.error, match.partition))


@pytest.mark.parametrize("settings", [{"error": 3}, {"partition": 0}, {"topic": "t"}])
def test_a_body_that_is_too_large_to_be_read_leaves_it_undecided(settings: dict[str, Any]) -> None:
    # a response whose body is that of a request but for three bytes
    answer = replace(
        message("AlterPartitionReassignments", "response"), body=bytes(3) + reassignments()
    )
    with pytest.raises(Unclear, match=r"^too large to decode"):
        made(**settings).content_matches(replace(answer, request=reassignments(1)))


@pytest.mark.parametrize(("wrong", "why"), [
    ({"error": "NOT_AN_ERROR"}, "unknown Kafka error code 'NOT_AN_ERROR'"),
    *(({"error": code}, "unknown Kafka error code") for code in (True, -32769, 32768, 1.5)),
    *(({"acks": acks}, "is not a value of acks: use 0, 1 or all") for acks in (2, -2, True)),
    ({"size": 10}, "size"),
    ({"topic": 1}, "topic"),
    ({"api": "StopReplica", "version": "5+"}, "v5+ does not exist: StopReplica has versions 0 to 4"),
])  # fmt: skip
def test_what_can_not_be_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError) as caught:
        made(**wrong)
    assert why in str(caught.value)


def test_acks_and_errors_as_they_may_be_written() -> None:
    assert made(acks=("all", 0, 1, -1)).acks == frozenset({-1, 0, 1})
    assert made(error=("None", -32768, 32767)).error == frozenset({0, -32768, 32767})


def test_messages_must_meet_both() -> None:
    subject = Message("request", 11, 5, "app", 1, 0, 0, None, 10, None)
    assert made(api="JoinGroup", client_id="app").matches(subject)
    assert not made(api="JoinGroup", client_id="other").matches(subject)
    assert not made(api="SyncGroup", client_id="app").matches(subject)


def test_kinds_are_those_declared() -> None:
    found = list(made(api="StopReplica", version="3+", direction="response").kinds())
    assert found == [(5, "response", 3), (5, "response", 4)]


@pytest.mark.parametrize(("match", "words"), [
    (made(), "any message"),
    (made(api=("Produce", "Fetch"), direction="response"), "Produce or Fetch response"),
    (made(api=11, version="3-4", broker=(2, 1)), "JoinGroup message v3-4 at broker 1 or 2"),
    (made(client_id="a*", connection=0), "any message of client a* on connection 0"),
    (Until.model_validate({"version": 3, "direction": "request"}), "any request v3"),
    (made(size={"at_least": "1kB"}, acks=1), "any message of 1000 bytes with acks=1"),
    (made(size={"at_most": "1B"}, error=27), "any message with REBALANCE_IN_PROGRESS of 0 to 1 bytes"),
])  # fmt: skip
def test_words(match: Match, words: str) -> None:
    assert match.describe() == words
