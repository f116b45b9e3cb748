"""The one map of topics' names: what it is told, when it reads it, and that it is bounded."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pytest

from barnabas.captures.kafka.context.id_names import ids_with_names_in
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.topic_names import names as module
from barnabas.proxy.topic_names.names import UNREAD_MESSAGES, TopicNames, teaches
from barnabas.specs import NAMES, api
from barnabas.specs.keys import FETCH, METADATA, PRODUCE


def metadata(**topics: int) -> bytes:
    found = [{"name": name, "topic_id": uuid.UUID(int=number)} for name, number in topics.items()]
    return api("Metadata").response.codec(12).encode({"topics": found})


def test_what_was_heard_is_read_when_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def noted(key: int, *message: Any) -> Any:
        read.append(key)
        return ids_with_names_in(key, *message)

    monkeypatch.setattr(module, "ids_with_names_in", noted)
    names = TopicNames()
    for _ in range(3):  # as clients ask one after the other
        names.add_response(METADATA, 12, metadata(orders=1))
    names.add_response(METADATA, 12, metadata(clicks=2))
    assert not read
    assert names.get(uuid.UUID(int=2)) == "clicks"
    assert len(read) == 2
    assert names.get(uuid.UUID(int=1)) == "orders"
    assert names.get(uuid.UUID(int=3)) is None
    assert len(read) == 2


def test_what_waits_to_be_read_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    names = TopicNames()
    for number in range(1, 1001):
        names.add_response(METADATA, 12, metadata(**{f"t{number}": number}))
    assert len(names) == 0
    assert names.given_up == 1000 - UNREAD_MESSAGES
    assert names.get(uuid.UUID(int=1000)) == "t1000"
    assert names.get(uuid.UUID(int=1)) is None
    monkeypatch.setattr(module, "UNREAD", 100)
    large = metadata(**{f"t{number}": number for number in range(2000, 2100)})
    names.add_response(METADATA, 12, metadata(small=1999))
    names.add_response(METADATA, 12, large)  # alone it may be larger
    assert names.get(uuid.UUID(int=2099)) == "t2099"
    assert names.get(uuid.UUID(int=1999)) is None


def test_a_thread_may_look_while_another_one_tells() -> None:
    names, found = TopicNames(most=10), []
    ids = [uuid.UUID(int=number) for number in range(1, 21)]

    def look() -> None:
        found.append(sum(names.get(topic) in (None, "t") for _ in range(500) for topic in ids))

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(500):
        for topic in ids:
            names[topic] = "t"
    reader.join()
    assert found == [10_000]
    assert len(names) == 10


def test_nothing_that_producers_consumers_and_groups_are_answered_is_read_for_names() -> None:
    """Only few responses are collected for their names, and none of the hot path."""
    plan = Plan(Rules(None))
    taught = {
        NAMES[key]
        for key in NAMES
        for version in range(api(key).versions[0], api(key).versions[1] + 1)
        if teaches(key, version) and plan.whole("response", key, version)
    }
    assert taught == {
        "Metadata", "CreateTopics", "DeleteTopics", "ConsumerGroupDescribe", "DescribeTopicPartitions",
        "ShareGroupDescribe", "DescribeShareGroupOffsets", "AlterShareGroupOffsets",
        "DeleteShareGroupOffsets",
    }  # fmt: skip
    assert not any(plan.whole("request", key, 9) for key in (PRODUCE, FETCH, METADATA))
    assert not any(plan.whole("response", key, 9) for key in (PRODUCE, FETCH))
