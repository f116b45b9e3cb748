"""librdkafka as it is installed, on the steered broker: what it asks behind each answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from barnabas.fuzz.states.clients.alphabets import (
    CONSUMER,
    MEMBER,
    OFFSETS,
    PRODUCER,
    ClientAlphabet,
)
from barnabas.fuzz.states.clients.conversation import ClientConversation
from barnabas.peers.clients.client import Client
from barnabas.peers.clients.python import program

pytestmark = pytest.mark.slow("sessions of real clients")

AGAIN = [
    ("NONE", "SyncGroup"),
    ("NONE", "Heartbeat"),
    ("REBALANCE_IN_PROGRESS", "JoinGroup with its id"),
    ("NONE", "SyncGroup"),
    ("UNKNOWN_MEMBER_ID", "JoinGroup without an id"),
    ("NONE", "SyncGroup"),
]
TWICE = [
    ("NONE", "AddPartitionsToTxn"),
    ("CONCURRENT_TRANSACTIONS", "AddPartitionsToTxn"),
    ("NONE", "Produce"),
    ("NONE", "EndTxn that commits"),
    ("NONE", "AddPartitionsToTxn"),
    ("PRODUCER_FENCED", "raises KafkaException (_FENCED)"),
]
JOINS = [
    ("NONE", "ConsumerGroupHeartbeat"),
    ("NONE", "ConsumerGroupHeartbeat"),
    ("FENCED_MEMBER_EPOCH", "ConsumerGroupHeartbeat that joins"),
    ("NONE", "ConsumerGroupHeartbeat"),
]
COMMITS = [
    ("COORDINATOR_LOAD_IN_PROGRESS", "OffsetFetch"),
    ("NONE", "OffsetCommit"),
    ("NONE", "OffsetCommit"),
    ("ILLEGAL_GENERATION", "OffsetFetch"),
]


@pytest.mark.parametrize(
    ("alphabet", "steps"),
    [(MEMBER, AGAIN), (PRODUCER, TWICE), (CONSUMER, JOINS), (OFFSETS, COMMITS)],
    ids=["member", "producer", "consumer", "offsets"],
)
def test_what_librdkafka_asks_next(alphabet: ClientAlphabet, steps: list[tuple[str, str]]) -> None:
    python = Path(sys.executable)
    client = Client("confluent-kafka", "as installed", lambda: program(python, "confluent"))
    with ClientConversation(client, alphabet) as it:
        it.restart()
        assert [(answer, it.say(answer)) for answer, _ in steps] == steps
        it.close()
