"""Responses of a coordinator, from its entry of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.registry.interface import ENTRY_LIMIT
from barnabas.designs.consumer_rewrite.peers.group_entry import Committed, Consumer, GroupEntry
from barnabas.designs.consumer_rewrite.peers.wire import CODES
from barnabas.designs.consumer_rewrite.states import UNKNOWN
from barnabas.designs.leaders import UNKNOWN_TOPIC_OR_PARTITION, by_topic
from barnabas.specs.groups.table import NONE

Body = dict[str, Any]


@dataclass(frozen=True)
class RequestId:
    """The origin of a request whose response follows later."""

    connection: int
    correlation_id: int
    host: str = ""
    """The client's host, as the socket has it."""


@dataclass(frozen=True)
class Answer:
    """The response to a request."""

    request_id: RequestId
    api: str
    body: Body


METADATA_LIMIT: Final = 4096
"""Characters of the metadata of a commit, as Kafka's offset.metadata.max.bytes."""

METADATA_TOO_LARGE: Final = 12
"""OffsetMetadataTooLarge, of the 0.8 protocol guide."""


def refusal(api: str, error: str, body: Body) -> Body:
    """Return the response to a request that is refused as a whole."""
    code = CODES[error]
    if api == "JoinGroup":
        unknown = {"group_generation_id": -1, "consumer_id": "", "assigned_partitions": []}
        return {"error_code": code, **unknown}
    if api == "OffsetCommit":
        rows = [
            (
                topic["topic"],
                [{"partition": n["partition"], "error_code": code} for n in topic["partitions"]],
            )
            for topic in body["topics"]
        ]
        return {
            "responses": [{"topic": name, "partition_responses": parts} for name, parts in rows]
        }
    if api == "OffsetFetch":
        none = {"committed_offset": -1, "metadata": "", "error_code": code}
        rows = [
            (
                topic["name"],
                [{"partition_index": n, **none} for n in dict.fromkeys(topic["partition_indexes"])],
            )
            for topic in body["topics"]
        ]
        return {"topics": [{"name": name, "partitions": parts} for name, parts in rows]}
    return {"error_code": code}


def named(node: int | None, nodes: Mapping[int, Address]) -> Body:
    """Return the ConsumerMetadataResponse, which names the coordinator."""
    if node is None or node not in nodes:
        return {"error_code": CODES[UNKNOWN], "node_id": -1, "host": "", "port": -1}
    host, port = nodes[node]
    return {"error_code": 0, "node_id": node, "host": host, "port": port}


def joined(generation: int, consumer: Consumer) -> Body:
    """Return the JoinGroupResponse of a consumer that is a member."""
    return {
        "error_code": 0,
        "group_generation_id": generation,
        "consumer_id": consumer.consumer_id,
        "assigned_partitions": [
            {"topic": topic, "partitions": [number for number, _ in parts]}
            for topic, parts in by_topic((partition, None) for partition in consumer.owns)
        ],
    }


def fetched(record: GroupEntry, body: Body) -> Body:
    """Return the OffsetFetchResponse: committed offsets, or -1."""
    response = refusal("OffsetFetch", NONE, body)
    for topic in response["topics"]:
        for partition in topic["partitions"]:
            committed_offset = record.offsets.get((topic["name"], partition["partition_index"]))
            if committed_offset is not None:
                partition |= {
                    "committed_offset": committed_offset.offset,
                    "metadata": committed_offset.metadata,
                }
    return response


def committed(
    before: GroupEntry, body: Body, topics: Mapping[str, int], response: Body
) -> GroupEntry:
    """Return the group after an OffsetCommit, and set the errors of refused offsets in the response."""
    offsets = dict(before.offsets)
    for topic, topic_result in zip(body["topics"], response["responses"], strict=True):
        for partition, partition_result in zip(
            topic["partitions"], topic_result["partition_responses"], strict=True
        ):
            at = topic["topic"], partition["partition"]
            if len(partition["metadata"]) > METADATA_LIMIT:
                partition_result["error_code"] = METADATA_TOO_LARGE
            elif 0 <= at[1] < topics.get(at[0], 0):
                offsets[at] = Committed(
                    partition["offset"], partition["timestamp"], partition["metadata"]
                )
            else:
                partition_result["error_code"] = UNKNOWN_TOPIC_OR_PARTITION
    after = replace(before, offsets=offsets)
    if len(after.encode()) <= ENTRY_LIMIT:
        return after
    for topic_result in response["responses"]:
        for partition_result in topic_result["partition_responses"]:
            partition_result["error_code"] = partition_result["error_code"] or METADATA_TOO_LARGE
    return before
