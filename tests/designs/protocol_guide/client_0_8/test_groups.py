"""A group's offsets on 0.8.2.2, in Kafka and in ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from barnabas.designs.leaders import Address
from barnabas.designs.protocol_guide.client_0_8 import (
    Client,
    Committed,
    Error,
    Group,
    Message,
    Unreachable,
)
from barnabas.peers.apache import ApacheCluster
from barnabas.specs.error_codes import ERROR_CODES
from tests.waiting import SOON

NONE, PLACE = Error.NONE, ("kept", 0)


def test_codes_have_the_names_that_kafka_has_for_them() -> None:
    today = {one.code: one.name for one in ERROR_CODES}
    assert {each.value: each.name for each in Error} == {each.value: today[each] for each in Error}


@pytest.fixture
def client(kafka_0_8: ApacheCluster) -> Iterator[Client]:
    with Client(kafka_0_8.brokers.values(), patience=SOON) as made:
        made.produce({PLACE: [Message(None, b"makes the topic")]}, acks=-1)
        yield made


@pytest.mark.needs_apache("0.8.2.2")
def test_too_much_metadata_is_refused(client: Client) -> None:
    group = Group(client, "talkative")
    assert group.commit({PLACE: 1}, metadata="x" * 5000) == {PLACE: Error.OFFSET_METADATA_TOO_LARGE}


@pytest.mark.needs_apache("0.8.2.2")
def test_the_coordinator_is_a_broker_and_is_found_again(
    client: Client, kafka_0_8: ApacheCluster
) -> None:
    group = Group(client, "moves")
    assert group.commit({PLACE: 7}) == {PLACE: NONE}
    first = group.coordinator()
    assert first in kafka_0_8.brokers.values()
    (other,) = set(kafka_0_8.brokers.values()) - {first}
    group._coordinator = other
    assert group.committed([PLACE])[PLACE].offset == 7


class Answering(Client):
    """Is answered what it is told to be; the coordinator is always there."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        super().__init__([("127.0.0.1", 1)])
        self.answers = list(answers)

    def ask_any(self, key: int, body: Mapping[str, Any]) -> dict[str, Any]:
        return {"error_code": 0, "host": "127.0.0.1", "port": 1}

    def ask(
        self, address: Address, key: int, body: Mapping[str, Any], version: int = 0
    ) -> dict[str, Any]:
        return {"topics": self.answers.pop(0)}


def test_an_answer_without_the_partition_is_no_answer() -> None:
    """As 3.9.1 gives it while the coordinator isn't there; v1 has no other place for the error."""
    part = {"partition_index": 0, "committed_offset": 7, "metadata": "", "error_code": 0}
    with Answering([], [{"name": "kept", "partitions": [part]}]) as client:
        assert Group(client, "early").committed([PLACE]) == {PLACE: Committed(NONE, 7, "")}
    with Answering([]) as client:
        assert Group(client, "of nothing").committed([]) == {}


def test_a_coordinator_that_nobody_tells_is_missed() -> None:
    with (
        Client([("127.0.0.1", 1)], patience=0) as lonely,
        pytest.raises(Unreachable, match=r"127\.0\.0\.1:1"),
    ):
        Group(lonely, "lost").commit({PLACE: 1})
