"""AdminClient (since 0.11, KIP-117) in a Java client's process: creates topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jpype

from barnabas.peers.apache.client_values import java_list, package, properties, until

_NOT_YET: Final = ("UnknownTopicOrPartition", "LeaderNotAvailable", "NotLeader")
"""Prefixes of the exceptions of a broker that does not know a new partition yet."""
_PATIENCE: Final = 20.0
"""Seconds until all brokers have to know a new topic."""


def create_topic(request: dict[str, Any]) -> dict[str, Any]:
    """Create a topic, and wait until its partitions have leaders."""
    return with_admin(request, create)


def with_admin(
    request: dict[str, Any], call: Callable[[Any, dict[str, Any]], None]
) -> dict[str, Any]:
    """Make a call with a new AdminClient; its answer is empty."""
    admin = package("admin").AdminClient.create(properties(request["settings"]))
    try:
        call(admin, request)
        return {}
    finally:
        admin.close()


def create(admin: Any, request: dict[str, Any]) -> None:
    """Create a topic with one replica, and wait until its partitions have leaders."""
    topic = package("admin").NewTopic(request["topic"], request["partitions"], jpype.JShort(1))
    admin.createTopics(java_list(topic)).all().get()
    await_leaders(admin, request["topic"], request["partitions"])


def await_leaders(admin: Any, topic: str, partitions: int) -> None:
    """Wait until the leaders have their logs, where AdminClient can list offsets (2.5, KIP-396).

    A broker knows a new topic a moment before it can write to it. If it refuses the first batch of an
    idempotent producer then and takes the second one, the first batch is out of order for ever, because
    a partition accepts any sequence from a producer that it has not seen. The send ends after 120 s.
    """
    if not hasattr(admin, "listOffsets"):
        return
    ends = jpype.java.util.HashMap()
    for number in range(partitions):
        partition = jpype.JPackage("org.apache.kafka.common").TopicPartition(topic, number)
        ends.put(partition, package("admin").OffsetSpec.latest())

    def led() -> bool:
        try:
            admin.listOffsets(ends).all().get()
        except jpype.JException as problem:
            if not str(problem.getCause().getClass().getSimpleName()).startswith(_NOT_YET):
                raise
            return False
        return True

    until(led, _PATIENCE, lambda: f"{topic} has no leaders yet")
