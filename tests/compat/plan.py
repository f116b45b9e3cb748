"""What is in the table: brokers, clients, workloads, and what can't be there, with its reason."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.cli.clients.names import DEFAULT
from barnabas.experiments.clients.broker_versions import client_parameters, codecs, creates_topics
from barnabas.experiments.clients.workloads import Workload, find
from barnabas.peers.clients import registry
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.python import program

LIBRDKAFKA: Final = "librdkafka"

BROKERS: Final = (
    "4.3.1",
    "3.9.1",
    "2.8.0",
    "0.11.0.1",
    "0.10.2.1",
    "0.9.0.1",
    "0.8.2.2",
    LIBRDKAFKA,
)

CLIENTS: Final = {name.partition("@")[0]: name.partition("@")[2] for name in DEFAULT}
"""Library -> its newest release."""

INSTALLED: Final = {
    "confluent-kafka": "confluent",
    "kafka-python": "kafka_python",
    "aiokafka": "aiokafka",
}
"""Those that are beside the tests, in the release that is there -> their programs."""

JAVA: Final = {
    # newer ones hang at the mock's answer to their ApiVersions
    ("java", LIBRDKAFKA): "2.0.1",
    # the program is for Streams since 3.3
    ("kafka-streams", "2.8.0"): "3.9.1",
}
"""Java libraries are of the broker's version, but for these."""

WORKLOADS: Final = (
    "produce",
    "compressed",
    "transact",
    "read-process-write",
    "assign",
    "group",
    "cooperative",
    "consumer-protocol",
    "share-group",
    "admin",
)

RECORDS: Final = 60

STAY: Final = 8.0
"""Seconds that two members stay in a group: as long as it takes the second one to get its share."""

PATIENCE: Final = 30.0
"""Seconds that a step of a workload may take."""


class Gap(NamedTuple):
    """Cells that can't be, with a proxy or without one; empty means all."""

    brokers: tuple[str, ...]
    clients: tuple[str, ...]
    workloads: tuple[str, ...]
    reason: str


OLD: Final = ("0.9.0.1", "0.8.2.2")

GAPS: Final = (
    Gap(
        (),
        ("kafka-streams",),
        tuple(one for one in WORKLOADS if one != "read-process-write"),
        "Streams only copies",
    ),
    Gap(
        ("0.11.0.1",),
        ("kafka-streams",),
        (),
        "Streams since 3.3 commits transactions as brokers know it since 2.5 (KIP-447)",
    ),
    Gap(
        OLD,
        ("aiokafka", "kafka-go", "kafkajs", "platformatic-kafka"),
        (),
        "they ask for ApiVersions, which came with 0.10",
    ),
    Gap(("0.10.2.1",), ("platformatic-kafka",), (), "its Metadata fails with brokers before 0.11"),
    Gap(
        ("0.10.2.1",),
        ("aiokafka",),
        ("produce", "compressed"),
        "aiokafka writes batches of magic 2 only, which came with 0.11",
    ),
    Gap(
        ("0.10.2.1", *OLD),
        (),
        ("transact", "read-process-write"),
        "transactions came with 0.11",
    ),
    Gap(
        (LIBRDKAFKA,),
        (),
        ("transact", "read-process-write"),
        "the mock cluster forgets aborts and the offsets of transactions, and breaks their batches' CRC",
    ),
    Gap(
        (LIBRDKAFKA,),
        (),
        ("cooperative",),
        "the mock cluster ends a rebalance only when a session would time out",
    ),
    Gap(
        (LIBRDKAFKA,),
        ("franz-go", "sarama"),
        (),
        "the mock cluster's answer to an ApiVersions that is too new is not Kafka's",
    ),
    Gap(
        (LIBRDKAFKA,),
        ("java",),
        ("assign",),
        'Java 2.0.1 asks for the coordinator of group "", and the mock cluster answers with a null',
    ),
    Gap(
        (LIBRDKAFKA,),
        ("platformatic-kafka",),
        ("group",),
        "the mock cluster ends the connection at its JoinGroup",
    ),
    Gap(
        ("0.11.0.1", "0.10.2.1", "0.9.0.1"),
        ("java",),
        ("cooperative",),
        "Java's cooperative assignor came with 2.4",
    ),
    Gap(
        ("0.8.2.2",),
        ("java",),
        ("assign", "group"),
        "Java's consumer came with 0.9; the one in Scala before it asks ZooKeeper, round any proxy",
    ),
    Gap(
        OLD,
        ("sarama",),
        ("compressed", "group"),
        "Sarama wants 0.10 for lz4, and 0.10.2 for groups",
    ),
    Gap(
        OLD,
        ("franz-go",),
        ("compressed",),
        "it answers batches of one compression with UNKNOWN_SERVER_ERROR",
    ),
    Gap(
        ("0.8.2.2",),
        tuple(one for one in CLIENTS if one not in ("confluent-kafka", "kafka-python")),
        ("group",),
        "JoinGroup came with 0.9; the program has no other way to a group's offsets",
    ),
    Gap(("0.8.2.2",), (), ("cooperative",), "JoinGroup came with 0.9"),
    Gap(
        tuple(one for one in BROKERS if one != "4.3.1"),
        (),
        ("consumer-protocol", "share-group"),
        "groups of KIP-848 and share groups (KIP-932) came with 4.0 and later",
    ),
    Gap(
        ("0.11.0.1", "0.10.2.1", *OLD, LIBRDKAFKA),
        (),
        ("admin",),
        "partitions can be added by a request since 1.0 (KIP-195)",
    ),
)

UNREADABLE: Final = {
    # librdkafka's mock brokers write null beside an error where Kafka has an empty value
    LIBRDKAFKA: (
        r"SyncGroup v\d+ response: assignment at byte \d+: null where bytes is expected",
        r"OffsetFetch v\d+ response: topics at byte \d+: null where array is expected",
        # and no members
        r"LeaveGroup v\d+ response: members at byte \d+: 4 bytes expected for .*, 0 remain",
    ),
    # librdkafka asks for all offsets of a group as one does from v2; 0.9 takes it for an empty array. Its
    # brokers answer some of each other's Fetch v1 in the layout of v0, as is to be seen on the wire only
    "0.9.0.1": (
        r"OffsetFetch v1 request: topics at byte \d+: null where array is expected",
        r"Fetch v1 response: responses at byte 4: \d+ elements announced, \d+ bytes remain",
    ),
}
"""Frames that no schema reads and that pass nevertheless, as patterns."""

FOUND: Final = (
    # one of two members commits while the group rebalances because of the other one: the records come again
    r"commits: group \S+: a commit of generation \d+ was rejected: ILLEGAL_GENERATION; .*",
    # librdkafka does not wait while the first group's topic is being made
    r"backoff: .* was retried \d+ times in a row after COORDINATOR_NOT_AVAILABLE, .*",
)
"""What checks find, and rightly so, though nobody does wrong, as patterns."""

SLOW_REBALANCE: Final = r"joins: group \S+: the rebalance to generation \d+ took \d+ s; .*"
"""The same of the mock cluster, which ends a rebalance only when a session would time out."""


def gap(broker: str, client: str, workload: str) -> str | None:
    """Why a cell can't be, None if it can.

    >>> gap("0.8.2.2", "sarama", "cooperative"), gap("4.3.1", "sarama", "transact")
    ('JoinGroup came with 0.9', None)
    """
    for one in GAPS:
        if (
            (not one.brokers or broker in one.brokers)
            and (not one.clients or client in one.clients)
            and (not one.workloads or workload in one.workloads)
        ):
            return one.reason
    return None


def version_of(broker: str) -> str:
    """A broker's version; empty for librdkafka's mock."""
    return "" if broker == LIBRDKAFKA else broker


def makes(broker: str) -> bool:
    """Whether librdkafka can have brokers make topics; others do when a topic is named."""
    return broker != LIBRDKAFKA and creates_topics(broker)


def told(broker: str, client: str) -> dict[str, str]:
    """The broker's version, where a client has to be told."""
    if broker == LIBRDKAFKA and client == "kafka-python":
        return {"broker": "0.11"}  # the answer to an ApiVersions that is too new is not Kafka's
    return client_parameters(version_of(broker), client)


def wanted(workload: str) -> Workload:
    """A workload as it is in the table, with two members at most: STAY is too short for three."""
    found = find(workload)
    return found._replace(records=RECORDS, members=min(found.members, 2))


def work(broker: str, client: str, workload: str) -> dict[str, Any]:
    """What a client's program is told of it."""
    two = workload in ("cooperative", "consumer-protocol")
    return wanted(workload).work(
        stay=STAY if two else 0,
        patience=PATIENCE,
        codecs=codecs(version_of(broker) or "2.0"),  # the mock has no zstd (KIP-110)
        **told(broker, client),
    )


def version(broker: str, client: str) -> str:
    """The release of a client that is put to a broker."""
    if client in INSTALLED:
        return importlib.metadata.version(client)
    if client in ("java", "kafka-streams"):
        return JAVA.get((client, broker), broker)
    return CLIENTS[client]


def prepared(broker: str, client: str) -> Program:
    """A client's program. Raises UnavailableClientError."""
    if client in INSTALLED:
        return program(Path(sys.executable), INSTALLED[client])
    return registry.find(f"{client}@{version(broker, client)}").prepare()
