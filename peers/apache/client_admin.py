"""Admin calls, in a Java client's process: AdminClient came with 0.11 (KIP-117) and grew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jpype

from barnabas.peers.apache.client_values import java_list, package, properties, until

_NOT_YET: Final = ("UnknownTopicOrPartition", "LeaderNotAvailable", "NotLeader")
"""How the exceptions begin that say that a broker does not know of a new partition."""
_PATIENCE: Final = 20.0
"""Seconds in which all brokers know of it."""

Call = Callable[[Any, dict[str, Any]], dict[str, Any]]


def administer(request: dict[str, Any]) -> dict[str, Any]:
    """Make one of the calls below, with a new AdminClient."""
    client = package("admin").AdminClient.create(properties(request["settings"]))
    try:
        return CALLS[request["call"]](client, request)
    finally:
        client.close()


def _create(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    new = package("admin").NewTopic(request["topic"], request["partitions"], jpype.JShort(1))
    client.createTopics(java_list(new)).all().get()
    _await_leaders(client, request["topic"], request["partitions"])
    return {}


def _grow(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    wanted = package("admin").NewPartitions.increaseTo(request["partitions"])
    changes = jpype.java.util.Collections.singletonMap(request["topic"], wanted)
    client.createPartitions(changes).all().get()
    _await_leaders(client, request["topic"], request["partitions"])
    return {}


def _await_leaders(client: Any, topic: str, partitions: int) -> None:
    """Until the leaders have their logs, where that can be asked (2.5, KIP-396).

    A broker knows a new topic a moment before it can write to it. If it refuses the first batch of an
    idempotent producer then and takes the second one (of a producer that a partition has not seen it
    takes any sequence), the first one is out of order for ever: the send ends after 120 s.
    """
    if not hasattr(client, "listOffsets"):
        return
    asked = jpype.java.util.HashMap()
    for number in range(partitions):
        place = jpype.JPackage("org.apache.kafka.common").TopicPartition(topic, number)
        asked.put(place, package("admin").OffsetSpec.latest())

    def led() -> bool:
        try:
            client.listOffsets(asked).all().get()
        except jpype.JException as problem:
            if not str(problem.getCause().getClass().getSimpleName()).startswith(_NOT_YET):
                raise
            return False
        return True

    until(led, _PATIENCE, lambda: f"{topic} has no leaders yet")


def _delete(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    client.deleteTopics(java_list(request["topic"])).all().get()
    return {}


CALLS: Final[dict[str, Call]] = {
    "create": _create,
    "grow": _grow,
    "delete": _delete,
}
"""What can be called; createPartitions since 1.0 (KIP-195)."""
