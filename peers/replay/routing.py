"""The live broker for a request: the leader of its partitions, a coordinator, or any.

A request whose partitions have several leaders is split; the responses are merged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from barnabas.captures.kafka.context.request_group import PATHS, group_of
from barnabas.specs.registry import key_of


class ArrayFields(NamedTuple):
    """Names of fields in a request to leaders and its response: topics, partitions, partition number."""

    topics: str
    partitions: str
    number: str
    response_topics: str
    response_partitions: str


OF_LEADERS: Final[Mapping[int, ArrayFields]] = {
    key_of("Produce"): ArrayFields(
        "topic_data", "partition_data", "index", "responses", "partition_responses"
    ),
    key_of("Fetch"): ArrayFields("topics", "partitions", "partition", "responses", "partitions"),
    key_of("ListOffsets"): ArrayFields(
        "topics", "partitions", "partition_index", "topics", "partitions"
    ),
    key_of("DeleteRecords"): ArrayFields(
        "topics", "partitions", "partition_index", "topics", "partitions"
    ),
    key_of("OffsetForLeaderEpoch"): ArrayFields(
        "topics", "partitions", "partition", "topics", "partitions"
    ),
}
"""APIs of partition leaders."""

OF_GROUPS: Final = frozenset(
    map(
        key_of,
        (
            "OffsetCommit",
            "OffsetFetch",
            "JoinGroup",
            "Heartbeat",
            "LeaveGroup",
            "SyncGroup",
            "DescribeGroups",
            "DeleteGroups",
            "TxnOffsetCommit",
            "OffsetDelete",
            "ConsumerGroupHeartbeat",
            "ConsumerGroupDescribe",
            "ShareGroupHeartbeat",
            "ShareGroupDescribe",
        ),
    )
)
OF_TRANSACTIONS: Final = frozenset(
    map(
        key_of,
        ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"),
    )
)


class Coordinator(NamedTuple):
    """The coordinator of a group (kind 0) or a transactional id (1), as FindCoordinator numbers them."""

    kind: Literal[0, 1]
    name: str


def coordinator_of(
    key: int, version: int, request: bytes, body: dict[str, Any]
) -> Coordinator | None:
    """Return the coordinator that a request is for; None: it is for any broker, or for leaders."""
    if key in OF_TRANSACTIONS:
        name = body.get("transactional_id") or body.get("v3_and_below_transactional_id")
        return Coordinator(1, name) if name else None
    if key in OF_GROUPS:
        group = body.get("group_id") if key not in PATHS else group_of(key, version, request)
        return Coordinator(0, group) if group else None
    return None


def split(
    key: int, body: dict[str, Any], leader: Callable[[Any, int], int]
) -> dict[int, dict[str, Any]]:
    """Split a request by leader: return the part for each node id.

    Args:
        key: of the API.
        body: the request.
        leader: returns the node id for a topic (as the request has it) and partition.

    >>> body = {"topics": [{"topic": "t", "partitions": [{"partition": 0}, {"partition": 1}]}]}
    >>> found = split(1, body, lambda topic, partition: partition + 1)
    >>> found[2]
    {'topics': [{'topic': 't', 'partitions': [{'partition': 1}]}]}
    """
    names = OF_LEADERS[key]
    parts_by_node: dict[int, dict[str, Any]] = {}
    for topic in body[names.topics]:
        parts: defaultdict[int, list[Any]] = defaultdict(list)
        for entry in topic[names.partitions]:
            parts[leader(topic_of(topic), entry[names.number])].append(entry)
        for node, entries in parts.items():
            part = parts_by_node.setdefault(node, {**body, names.topics: []})
            part[names.topics].append({**topic, names.partitions: entries})
    return parts_by_node


def leader_partitions(key: int, body: Mapping[str, Any]) -> list[tuple[Any, int]]:
    """Return the topics (as the request has them) and partitions of a request to leaders.

    >>> leader_partitions(1, {"topics": [{"topic": "t", "partitions": [{"partition": 0}, {"partition": 1}]}]})
    [('t', 0), ('t', 1)]
    """
    names = OF_LEADERS[key]
    return [
        (topic_of(topic), entry[names.number])
        for topic in body[names.topics]
        for entry in topic[names.partitions]
    ]


def topic_of(topic: Mapping[str, Any]) -> Any:
    """Return a topic's name, or its id if the structure has no name."""
    return topic.get("topic") or topic.get("name") or topic.get("topic_id")


def merge(key: int, responses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge the responses of several leaders; one with an error decides the error of the whole.

    >>> parts = [{"topics": [{"name": "t", "partitions": [n]}], "throttle_time_ms": n} for n in (0, 1)]
    >>> merge(2, parts)
    {'topics': [{'name': 't', 'partitions': [0, 1]}], 'throttle_time_ms': 0}
    """
    if len(responses) == 1:
        return responses[0]
    names = OF_LEADERS[key]
    topics: dict[Any, dict[str, Any]] = {}
    for response in responses:
        for topic in response[names.response_topics]:
            known = topics.setdefault(topic_of(topic), {**topic, names.response_partitions: []})
            known[names.response_partitions].extend(topic[names.response_partitions])
    rest = next((failed for failed in responses if failed.get("error_code")), responses[0])
    return {**rest, names.response_topics: list(topics.values())}
