"""What is in the table: brokers, clients, jobs, and what no client can do there, with its reason."""

from __future__ import annotations

from typing import Final, NamedTuple

EMBEDDED: Final = "embedded"

BROKERS: Final = (
    "4.3.1",
    "3.9.1",
    "2.8.0",
    "0.11.0.1",
    "0.10.2.1",
    "0.9.0.1",
    "0.8.2.2",
    EMBEDDED,
)

CLIENTS: Final = {
    "confluent": "confluent-kafka",
    "kafka_python": "kafka-python",
    "aiokafka": "aiokafka",
    "java": "Java, of the broker's version",
}
"""Module in tests.compat.clients -> its name."""

JOBS: Final = {
    "produce": "produce",
    "consume_in_group": "consume in a group",
    "rebalance": "rebalance",
    "transact": "transactions",
    "admin": "admin calls",
}
"""Function of each of those modules -> its name."""


class Gap(NamedTuple):
    """Cells that can't be, with a proxy or without one; empty means all."""

    brokers: tuple[str, ...]
    clients: tuple[str, ...]
    jobs: tuple[str, ...]
    reason: str


OLD: Final = ("0.9.0.1", "0.8.2.2")

GAPS: Final = (
    Gap(OLD, ("aiokafka",), (), "aiokafka asks for ApiVersions, which came with 0.10"),
    Gap(
        ("0.10.2.1",),
        ("aiokafka",),
        ("produce",),
        "aiokafka writes batches of magic 2 only, which came with 0.11",
    ),
    Gap(
        ("0.10.2.1", *OLD),
        (),
        ("transact",),
        "transactions came with 0.11",
    ),
    Gap(
        (EMBEDDED,),
        (),
        ("transact",),
        "the mock cluster forgets aborts and the offsets of transactions, and breaks their batches' CRC",
    ),
    Gap(
        (EMBEDDED,),
        ("aiokafka", "kafka_python"),
        ("rebalance",),
        "the mock cluster answers SyncGroup by chance with INVALID_REQUEST, which ends these clients",
    ),
    Gap(
        (EMBEDDED,),
        ("java",),
        ("rebalance",),
        "the mock cluster answers SyncGroup with null where Java wants bytes",
    ),
    Gap(
        ("0.8.2.2",),
        ("java",),
        ("consume_in_group",),
        "Java's consumer came with 0.9; the one in Scala before it asks ZooKeeper, round any proxy",
    ),
    Gap(("0.8.2.2",), (), ("rebalance",), "JoinGroup came with 0.9"),
    Gap(
        ("0.10.2.1", *OLD),
        ("java",),
        ("admin",),
        "Java's AdminClient came with 0.11",
    ),
)

UNREADABLE: Final = {
    # librdkafka's mock brokers write null beside an error where Kafka has an empty value
    EMBEDDED: (
        r"SyncGroup v\d+ response: assignment at byte \d+: null where bytes is expected",
        r"OffsetFetch v\d+ response: topics at byte \d+: null where array is expected",
    ),
    # librdkafka asks for all offsets of a group as one does from v2; 0.9 takes it for an empty array. Its
    # brokers answer some of each other's Fetch v1 in the layout of v0, as is to be seen on the wire only
    "0.9.0.1": (
        r"OffsetFetch v1 request: topics at byte \d+: null where array is expected",
        r"Fetch v1 response: responses at byte 4: \d+ elements announced, \d+ bytes remain",
    ),
}
"""Frames that no schema reads and that pass nevertheless, as patterns."""

FOUND: Final = {
    # its consumer does not wait until LeaveGroup is through: if it was not, who comes next waits for the
    # session of 6 s, and that is what the check says
    "0.9.0.1": (r"joins: group java-\S+: the rebalance to generation \d+ took 5\.\d+ s; .*",),
    # kafka-python 3.0.12 sometimes does not rejoin after a heartbeat told it to, without the proxy too
    "4.3.1": (
        r"joins: group kafka_python-rebalance-\S+: the rebalance to generation \d+ took 5\.\d+ s; "
        r"it waited for \S+, which did not rejoin",
    ),
}
"""What checks find, and rightly so, though nobody does wrong, as patterns."""


def gap(broker: str, client: str, job: str) -> str | None:
    """Why a cell can't be, None if it can.

    >>> gap("0.8.2.2", "confluent", "rebalance"), gap("4.3.1", "confluent", "rebalance")
    ('JoinGroup came with 0.9', None)
    """
    for one in GAPS:
        if (
            broker in one.brokers
            and (not one.clients or client in one.clients)
            and (not one.jobs or job in one.jobs)
        ):
            return one.reason
    return None


def number(broker: str) -> tuple[int, ...]:
    """A broker's version as numbers; empty for the embedded cluster."""
    return () if broker == EMBEDDED else tuple(int(part) for part in broker.split("."))
