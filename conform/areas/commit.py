"""OffsetCommit: who may commit, what is kept, errors of partitions."""

from __future__ import annotations

import uuid
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, commit, commit_fields, committed

BY_NAME: Final = 9
"""The newest version with names of topics."""


@check(
    "commit/kept",
    "OffsetCommitRequest.json, OffsetFetchResponse.json",
    needs=COMMITS,
    each="OffsetCommit",
)
async def commit_kept(broker: Broker) -> None:
    """An offset that was committed without members is fetched with its metadata."""
    group, topic = broker.name("group"), await broker.topic()
    response = await commit(broker, group, topic, 5, committed_metadata="hello")
    response.expect(**{"partitions[0].error_code": "NONE"})
    fetched = await committed(broker, group, topic)
    fetched.expect(error_code="NONE", committed_offset=5, metadata="hello")


@check(
    "commit/metadata-null",
    "OffsetCommitRequest.json",
    level=SHOULD,
    needs=COMMITS,
)
async def metadata_null(broker: Broker) -> None:
    """Metadata that was committed as null is fetched as an empty string."""
    group, topic = broker.name("group"), await broker.topic()
    response = await commit(broker, group, topic, 5, committed_metadata=None)
    response.expect(**{"partitions[0].error_code": "NONE"})
    (await committed(broker, group, topic)).expect(committed_offset=5, metadata="")


@check(
    "commit/metadata-too-large",
    "offset.metadata.max.bytes",
    needs=COMMITS,
)
async def metadata_too_large(broker: Broker) -> None:
    """Metadata of 5,000 bytes gets OFFSET_METADATA_TOO_LARGE, and its offset is not kept."""
    group, topic = broker.name("group"), await broker.topic()
    response = await commit(broker, group, topic, 5, committed_metadata="x" * 5000)
    response.expect(**{"partitions[0].error_code": "OFFSET_METADATA_TOO_LARGE"})
    (await committed(broker, group, topic)).expect(committed_offset=-1)


@check(
    "commit/leader-epoch-kept",
    "KIP-320",
    needs={"OffsetCommit": 6, "OffsetFetch": 5},
)
async def leader_epoch_kept(broker: Broker) -> None:
    """The leader epoch of a committed offset is fetched with it; -1 if there is none."""
    group, topic = broker.name("group"), await broker.topic(2)
    await commit(broker, group, topic, {0: 5}, committed_leader_epoch=0)
    await commit(broker, group, topic, {1: 5}, committed_leader_epoch=-1)
    (await committed(broker, group, topic, 0)).expect(committed_leader_epoch=0)
    (await committed(broker, group, topic, 1)).expect(committed_leader_epoch=-1)


@check(
    "commit/replaces",
    "OffsetMetadataManager.replay",
    needs=COMMITS,
)
async def replaces(broker: Broker) -> None:
    """A later commit replaces an earlier one, also with a smaller offset."""
    group, topic = broker.name("group"), await broker.topic()
    for offset in (5, 9, 3):
        await commit(broker, group, topic, offset)
        (await committed(broker, group, topic)).expect(committed_offset=offset)


@check(
    "commit/beyond-end",
    "OffsetMetadataManager.commitOffset",
    level=SHOULD,
    needs=COMMITS,
)
async def beyond_end(broker: Broker) -> None:
    """The coordinator keeps any offset, also one beyond the end of the log."""
    group, topic = broker.name("group"), await broker.topic()
    response = await commit(broker, group, topic, 2**62)
    response.expect(**{"partitions[0].error_code": "NONE"})
    (await committed(broker, group, topic)).expect(committed_offset=2**62)


@check(
    "commit/unknown-partition",
    "KafkaApis.handleOffsetCommitRequest",
    needs=COMMITS,
)
async def unknown_partition(broker: Broker) -> None:
    """An unknown partition gets UNKNOWN_TOPIC_OR_PARTITION, and known ones of the request are kept."""
    group, topic = broker.name("group"), await broker.topic()
    response = await commit(broker, group, topic, {0: 5, 7: 5})
    errors = {row["partition_index"]: index for index, row in enumerate(response["partitions"])}
    response.expect(
        **{
            f"partitions[{errors.get(0, 99)}].error_code": "NONE",
            f"partitions[{errors.get(7, 99)}].error_code": "UNKNOWN_TOPIC_OR_PARTITION",
        }
    )
    (await committed(broker, group, topic)).expect(committed_offset=5)


@check(
    "commit/unknown-topic",
    "KafkaApis.handleOffsetCommitRequest",
    needs=COMMITS,
)
async def unknown_topic(broker: Broker) -> None:
    """An unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    version = broker.version("OffsetCommit", 2, BY_NAME)
    response = await commit(broker, broker.name("group"), broker.name("topic"), 5, version=version)
    response.expect(**{"partitions[0].error_code": "UNKNOWN_TOPIC_OR_PARTITION"})


@check(
    "commit/unknown-topic-id",
    "KIP-848; OffsetCommitResponse.json",
    needs={"OffsetCommit": BY_NAME + 1},
)
async def unknown_topic_id(broker: Broker) -> None:
    """An unknown topic id gets UNKNOWN_TOPIC_ID."""
    group, topic = broker.name("group"), await broker.topic()
    body = await commit_fields(broker, group, topic, {0: 5}, BY_NAME + 1)
    unknown = uuid.UUID(int=77)
    body["topics"][0]["topic_id"] = unknown
    response = await (await broker.coordinator(group)).send("OffsetCommit", BY_NAME + 1, **body)
    response.at("topics[0]").expect(
        **{"topic_id": unknown, "partitions[0].error_code": "UNKNOWN_TOPIC_ID"}
    )


@check(
    "commit/response-complete",
    "OffsetCommitResponse.json; redpanda#3403",
    needs=COMMITS,
)
async def response_complete(broker: Broker) -> None:
    """The response has every partition of the request once."""
    group, topic = broker.name("group"), await broker.topic(3)
    response = await commit(broker, group, topic, {2: 7, 0: 5, 1: 6})
    received = sorted(row["partition_index"] for row in response["partitions"])
    if received != [0, 1, 2]:
        raise response.failed("partitions", "partitions 0, 1 and 2", f"{received}")
    for partition, offset in enumerate((5, 6, 7)):
        (await committed(broker, group, topic, partition)).expect(committed_offset=offset)


@check(
    "commit/pipelined",
    "OffsetMetadataManager.replay",
    needs=COMMITS,
)
async def pipelined(broker: Broker) -> None:
    """The last of ten commits that are sent without waiting for responses is kept."""
    group, topic = broker.name("group"), await broker.topic()
    version = broker.version("OffsetCommit", 2)
    connection = await broker.coordinator(group, fresh=True)
    for offset in range(10):
        body = await commit_fields(broker, group, topic, {0: offset}, version)
        await connection.write("OffsetCommit", version, **body)
    for _ in range(10):
        response = await connection.read()
        response.expect(**{"topics[0].partitions[0].error_code": "NONE"})
    (await committed(broker, group, topic)).expect(committed_offset=9)


@check(
    "commit/two-at-once",
    "OffsetMetadataManager.commitOffset",
    needs=COMMITS,
)
async def two_at_once(broker: Broker) -> None:
    """Two connections that commit different partitions of a group at once are both served."""
    group, topic = broker.name("group"), await broker.topic(2)
    version = broker.version("OffsetCommit", 2)
    connections = [await broker.coordinator(group, fresh=True) for _ in range(2)]
    for partition, connection in enumerate(connections):
        body = await commit_fields(broker, group, topic, {partition: 5 + partition}, version)
        await connection.write("OffsetCommit", version, **body)
    for connection in connections:
        response = await connection.read()
        response.expect(**{"topics[0].partitions[0].error_code": "NONE"})
    for partition in range(2):
        fetched = await committed(broker, group, topic, partition)
        fetched.expect(committed_offset=5 + partition)


CHECKS: Final[tuple[Check, ...]] = (
    commit_kept,
    metadata_null,
    metadata_too_large,
    leader_epoch_kept,
    replaces,
    beyond_end,
    unknown_partition,
    unknown_topic,
    unknown_topic_id,
    response_complete,
    pipelined,
    two_at_once,
)
