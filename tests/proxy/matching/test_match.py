from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.matching.message import Message
from barnabas.specs.frames import Direction
from tests.proxy.faults.given import ask, beat, message, stage


def made(**settings: Any) -> Match:
    return Match.model_validate(settings)


@pytest.mark.parametrize(
    ("match", "direction", "key", "version", "meets"),
    [
        (made(), "request", 12345, -1, True),
        (made(api="Fetch"), "request", 1, 11, True),
        (made(api="FETCH"), "response", 1, 0, True),
        (made(api="Fetch"), "request", 0, 11, False),
        (made(api=1), "request", 1, 11, True),
        (made(api=("Fetch", 0)), "request", 0, 11, True),
        (made(direction="request"), "request", 1, 0, True),
        (made(direction="request"), "response", 1, 0, False),
        (made(version=11), "request", 1, 11, True),
        (made(version="11"), "request", 1, 12, False),
        (made(version="3-9"), "request", 1, 3, True),
        (made(version="3-9"), "request", 1, 9, True),
        (made(version="3-9"), "request", 1, 10, False),
        (made(version="3-9"), "request", 1, 2, False),
        (made(version="12+"), "request", 1, 12, True),
        (made(version="12+"), "request", 1, 11, False),
    ],
)
def test_kinds_of_message(
    match: Match, direction: Direction, key: int, version: int, meets: bool
) -> None:
    assert match.key_matches(direction, key, version) is meets


@pytest.mark.parametrize(
    ("match", "client_id", "broker", "meets"),
    [
        (made(), None, None, True),
        (made(client_id="orders-*"), "orders-1", 1, True),
        (made(client_id="orders-*"), "Orders-1", 1, False),
        (made(client_id="orders"), "orders-1", 1, False),
        (made(client_id="*"), None, 1, False),
        (made(client_id=("a", "b?")), "b1", 1, True),
        (made(broker=1), None, 1, True),
        (made(broker=1), None, 2, False),
        (made(broker=1), None, None, False),
        (made(broker=(1, 2)), None, 2, True),
        (made(broker=1, client_id="a"), "b", 1, False),
    ],
)
def test_peers(match: Match, client_id: str | None, broker: int | None, meets: bool) -> None:
    assert match.peer_matches(client_id, broker, 0) is meets


def test_the_ordinal_of_a_connection() -> None:
    assert made(connection=1).peer_matches("me", 1, 1)
    assert made(connection=(0, 1)).peer_matches("me", 1, 1)
    assert not made(connection=0).peer_matches("me", 1, 1)


FETCH = message(
    "Fetch", "request", 11, topics=[{"topic": "orders"}], forgotten_topics_data=[{"topic": "old"}]
)
COMMIT = message("OffsetCommit", "request", 7, group_id="billing", topics=[{"name": "orders"}])
END = message("EndTxn", "request", 3, transactional_id="tx-1")
ANSWER = message("OffsetCommit", "response", 7, topics=[{"partitions": [{"error_code": 27}]}])
ANSWER.request = COMMIT.body
PRODUCE = replace(message("Produce", "request", 7), acks=-1)
BROKEN = replace(message("Fetch", "request", 11), body=b"?")


@pytest.mark.parametrize(
    ("match", "subject", "meets"),
    [
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
        (made(size={"at_least": "10B"}), FETCH, True),
        (made(size={"at_most": "10B"}), FETCH, False),
        (made(size={"at_least": "1B", "at_most": "1KiB"}), FETCH, True),
    ],
)
def test_content(match: Match, subject: Message, meets: bool) -> None:
    assert match.content_matches(subject) is meets
    assert match.matches(subject) is meets
    assert match.needs_body is any((match.entities, match.error))


@pytest.mark.parametrize(
    "wrong", [{"error": "NOT_AN_ERROR"}, {"acks": 2}, {"acks": True}, {"size": 10}, {"topic": 1}]
)
def test_what_can_not_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        made(**wrong)


def test_a_response_is_matched_by_what_its_request_named() -> None:
    actor = stage("drop", "{group: g, direction: response}", "{skip: 1}")
    for number in (1, 2):
        actor.ask(ask(number))
        actor.answer(beat(number))
    assert actor.sent["response"] == beat(1)


def test_messages_must_meet_both() -> None:
    message = Message("request", 11, 5, "app", 1, 0, 0, None, 10, None)
    assert made(api="JoinGroup", client_id="app").matches(message)
    assert not made(api="JoinGroup", client_id="other").matches(message)
    assert not made(api="SyncGroup", client_id="app").matches(message)


def test_kinds_are_those_declared() -> None:
    assert list(made(api="StopReplica", version="3+", direction="response").kinds()) == [
        (5, "response", 3),
        (5, "response", 4),
    ]


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (made(), "any message"),
        (made(api=("Produce", "Fetch"), direction="response"), "Produce or Fetch response"),
        (
            made(api=11, version="3-4", client_id="a*", broker=(2, 1)),
            "JoinGroup message v3-4 of client a* at broker 1 or 2",
        ),
        (Until.model_validate({"version": 3, "direction": "request"}), "any request v3"),
    ],
)
def test_words(match: Match, words: str) -> None:
    assert match.describe() == words


def test_matches_are_values() -> None:
    assert {made(api="Fetch"), made(api=1)} == {made(api="fetch")}
