"""Admin calls, in a Java client's process: AdminClient came with 0.11 (KIP-117) and grew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jpype

from barnabas.peers.apache.client_values import addresses, java_list, package, properties, until

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


def _describe(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    asked = client.describeTopics(java_list(request["topic"]))
    found = (asked.allTopicNames() if hasattr(asked, "allTopicNames") else asked.all()).get()
    partitions = found.get(request["topic"]).partitions()
    return {
        "partitions": [[int(one.partition()), int(one.replicas().size())] for one in partitions]
    }


def _cluster(client: Any, _: dict[str, Any]) -> dict[str, Any]:
    found = client.describeCluster()
    nodes, controller = found.nodes().get(), found.controller().get()
    return {"nodes": len(nodes), "addresses": addresses([*nodes, controller])}


def _configs(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    resources = jpype.JPackage("org.apache.kafka.common.config").ConfigResource
    topic = resources(resources.Type.TOPIC, request["topic"])
    found = client.describeConfigs(java_list(topic)).all().get().get(topic)
    return {"configs": {str(one.name()): str(one.value()) for one in found.entries()}}


def _groups(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    found = client.listConsumerGroups().all().get()
    return {"groups": sorted(str(one.groupId()) for one in found)}


def _group(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    found = client.describeConsumerGroups(java_list(request["group"])).all().get()
    group = found.get(request["group"])
    seen = addresses([group.coordinator()])
    state = str(group.groupState() if hasattr(group, "groupState") else group.state())
    return {"state": state, "members": len(group.members()), "addresses": seen}


def _offsets(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    found = client.listConsumerGroupOffsets(request["group"]).partitionsToOffsetAndMetadata().get()
    pairs = [(int(one.partition()), int(found.get(one).offset())) for one in found.keySet()]
    return {"offsets": sorted(pairs)}


CALLS: Final[dict[str, Call]] = {
    "create": _create,
    "grow": _grow,
    "delete": _delete,
    "describe": _describe,
    "cluster": _cluster,
    "configs": _configs,
    "groups": _groups,
    "group": _group,
    "offsets": _offsets,
}
"""What can be called: groups since 2.0 (KIP-222), createPartitions since 1.0 (KIP-195)."""
