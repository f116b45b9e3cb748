"""OffsetFetch: committed offsets of partitions, of groups, of open transactions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import (
    COMMITS,
    NO_TOPIC_NAMES,
    SEVERAL_GROUPS,
    as_member,
    commit,
    committed,
    fetch_offsets,
)
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.groups import MEMBERS, only_member
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

TRANSACTION: Final = 1
"""The type of a transactional id's key in FindCoordinator."""


def offsets_of(group: Response) -> list[tuple[int, int]]:
    """Return partition and offset of each row in a group's part of a response."""
    return sorted(
        (row["partition_index"], row["committed_offset"])
        for topic in group["topics"]
        for row in topic["partitions"]
    )


def _expect_offsets(group: Response, *expected: tuple[int, int]) -> None:
    """Expect these partitions and offsets, each once."""
    received = offsets_of(group)
    if received != sorted(expected):
        raise group.failed("topics", f"partitions and offsets {sorted(expected)}", f"{received}")


@check(
    "offset-fetch/none",
    "OffsetFetchResponse.json",
    needs={"OffsetFetch": 1},
)
async def no_offset(broker: Broker) -> None:
    """A partition without a committed offset has offset -1 and no error."""
    fetched = await committed(broker, broker.name("group"), await broker.topic())
    fetched.expect(error_code="NONE", committed_offset=-1)


@check(
    "offset-fetch/none-metadata",
    "OffsetMetadataManager.fetchOffsets",
    level=SHOULD,
    needs={"OffsetFetch": 1},
)
async def no_offset_metadata(broker: Broker) -> None:
    """The metadata of a partition without a committed offset is an empty string, not null."""
    fetched = await committed(broker, broker.name("group"), await broker.topic())
    fetched.expect(metadata="")


@check(
    "offset-fetch/version",
    "OffsetFetchResponse.json",
    needs=COMMITS,
    each="OffsetFetch",
)
async def each_version(broker: Broker) -> None:
    """A committed offset is fetched with its metadata in each offered version."""
    group, topic = broker.name("group"), await broker.topic()
    await commit(broker, group, topic, 5, committed_metadata="hello")
    fetched = await committed(broker, group, topic)
    fetched.expect(error_code="NONE", committed_offset=5, metadata="hello")


@check(
    "offset-fetch/all",
    "KIP-88",
    needs={"OffsetCommit": 2, "OffsetFetch": 2},
    each="OffsetFetch",
)
async def fetch_all(broker: Broker) -> None:
    """Without topics (null) all committed offsets of a group are fetched, and only those."""
    group, topic = broker.name("group"), await broker.topic(3)
    await commit(broker, group, topic, {0: 5, 2: 7})
    fetched = (await fetch_offsets(broker, group, None)).expect(error_code="NONE")
    _expect_offsets(fetched, (0, 5), (2, 7))


@check("offset-fetch/unknown-group", "KIP-88", level=SHOULD, needs={"OffsetFetch": 2})
async def unknown_group(broker: Broker) -> None:
    """An unknown group has no committed offsets, and no error."""
    fetched = await fetch_offsets(broker, broker.name("group"), None)
    fetched.expect(error_code="NONE", topics=[])


@check(
    "offset-fetch/no-duplicates",
    "redpanda#8689",
    needs={"OffsetCommit": 2, "OffsetFetch": 2},
)
async def no_duplicates(broker: Broker) -> None:
    """A partition whose offset was committed several times is fetched once, with the last offset."""
    group, topic = broker.name("group"), await broker.topic()
    for offset in (5, 6, 7):
        await commit(broker, group, topic, offset)
    _expect_offsets(await fetch_offsets(broker, group, None), (0, 7))
    _expect_offsets(await fetch_offsets(broker, group, {topic: [0]}), (0, 7))


@check(
    "offset-fetch/each-partition",
    "OffsetFetchResponse.json",
    needs=COMMITS,
)
async def each_partition(broker: Broker) -> None:
    """The response has every partition of the request, with an offset or without."""
    group, topic = broker.name("group"), await broker.topic(3)
    await commit(broker, group, topic, {1: 6})
    fetched = await fetch_offsets(broker, group, {topic: [2, 0, 1]})
    _expect_offsets(fetched, (0, -1), (1, 6), (2, -1))


@check(
    "offset-fetch/empty",
    "KIP-88",
    needs={"OffsetCommit": 2, "OffsetFetch": 2},
)
async def empty(broker: Broker) -> None:
    """An empty list of topics is not null: no offset is fetched."""
    group, topic = broker.name("group"), await broker.topic()
    await commit(broker, group, topic, 5)
    _expect_offsets(await fetch_offsets(broker, group, {}))


@check(
    "offset-fetch/several-groups",
    "KIP-709",
    needs={"OffsetCommit": 2, "OffsetFetch": SEVERAL_GROUPS},
)
async def several_groups(broker: Broker) -> None:
    """An OffsetFetch of several groups has each group's own offsets."""
    topic = await broker.topic()
    offsets = {broker.name("group"): 5, broker.name("group"): 6}
    for group, offset in offsets.items():
        await commit(broker, group, topic, offset)
    response = await (await broker.coordinator(group)).send(
        "OffsetFetch", groups=[{"group_id": group, "topics": None} for group in offsets]
    )
    received = [row["group_id"] for row in response["groups"]]
    if sorted(received) != sorted(offsets):
        raise response.failed("groups", f"{sorted(offsets)}", f"{sorted(received)}")
    for index, group in enumerate(received):
        row = response.at(f"groups[{index}]").expect(error_code="NONE")
        _expect_offsets(row, (0, offsets[group]))


@check(
    "offset-fetch/live-group",
    "OffsetMetadataManager.fetchOffsets",
    needs={**MEMBERS, **COMMITS},
)
async def live_group(broker: Broker) -> None:
    """Anyone may fetch the offsets of a group that has members."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    await commit(broker, member.group, topic, 5, member=as_member(member))
    (await committed(broker, member.group, topic)).expect(error_code="NONE", committed_offset=5)


@check(
    "offset-fetch/unknown-topic",
    "OffsetMetadataManager.fetchOffsets",
    level=SHOULD,
    needs={"OffsetFetch": 1},
)
async def unknown_topic(broker: Broker) -> None:
    """The name of an unknown topic has offset -1 and no error, as if nothing was committed."""
    version = broker.version("OffsetFetch", 1, NO_TOPIC_NAMES - 1)
    fetched = await committed(broker, broker.name("group"), broker.name("topic"), version=version)
    fetched.expect(error_code="NONE", committed_offset=-1)


@check(
    "offset-fetch/unknown-topic-id",
    "KIP-848; OffsetFetchResponse.json",
    needs={"OffsetFetch": NO_TOPIC_NAMES},
)
async def unknown_topic_id(broker: Broker) -> None:
    """An unknown topic id gets UNKNOWN_TOPIC_ID."""
    group, unknown = broker.name("group"), uuid.UUID(int=77)
    topics = [{"topic_id": unknown, "partition_indexes": [0]}]
    response = await (await broker.coordinator(group)).send(
        "OffsetFetch", NO_TOPIC_NAMES, groups=[{"group_id": group, "topics": topics}]
    )
    topic = response.at("groups[0].topics[0]").expect(topic_id=unknown)
    topic.at("partitions[0]").expect(error_code="UNKNOWN_TOPIC_ID", committed_offset=-1)


async def pending_commit(
    broker: Broker, group: str, topic: str, offset: int
) -> tuple[Connection, dict[str, Any]]:
    """Commit an offset in a transaction that stays open; return what EndTxn needs."""
    transactional_id = broker.name("transactional-id")
    connection = await broker.coordinator(transactional_id, TRANSACTION)
    producer = await connection.send(
        "InitProducerId",
        transactional_id=transactional_id,
        transaction_timeout_ms=30_000,
        producer_id=-1,
        producer_epoch=-1,
    )
    producer.expect(error_code="NONE")
    fields = {
        "transactional_id": transactional_id,
        "producer_id": producer["producer_id"],
        "producer_epoch": producer["producer_epoch"],
    }
    added = await connection.send("AddOffsetsToTxn", group_id=group, **fields)
    added.expect(error_code="NONE")
    rows = [{"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}]
    response = await (await broker.coordinator(group)).send(
        "TxnOffsetCommit",
        broker.version("TxnOffsetCommit", 0, 4),
        group_id=group,
        topics=[{"name": topic, "partitions": rows}],
        **fields,
    )
    response.expect(**{"topics[0].partitions[0].error_code": "NONE"})
    return connection, fields


async def end_transaction(
    broker: Broker, connection: Connection, transaction: Mapping[str, Any]
) -> None:
    """Commit the transaction of `pending_commit`."""
    version = broker.version("EndTxn", 0, 4)
    response = await connection.send("EndTxn", version, committed=True, **transaction)
    response.expect(error_code="NONE")


async def fetch_stable(broker: Broker, group: str, topic: str) -> Response:
    """Fetch a partition's offset until its transaction has ended, for some seconds."""
    deadline = await Now() + SETTLE_S
    while True:
        fetched = await committed(broker, group, topic, require_stable=True)
        if fetched["error_code"] != "UNSTABLE_OFFSET_COMMIT" or await Now() > deadline:
            return fetched
        await Sleep(0.05)


@check(
    "offset-fetch/require-stable",
    "KIP-447",
    needs={**COMMITS, "OffsetFetch": 7, "TxnOffsetCommit": 0, "AddOffsetsToTxn": 0},
)
async def require_stable(broker: Broker) -> None:
    """With require_stable a partition gets UNSTABLE_OFFSET_COMMIT until the transaction ends."""
    group, topic = broker.name("group"), await broker.topic()
    await commit(broker, group, topic, 5)
    connection, transaction = await pending_commit(broker, group, topic, 8)
    unstable = await committed(broker, group, topic, require_stable=True)
    unstable.expect(error_code="UNSTABLE_OFFSET_COMMIT")
    (await committed(broker, group, topic)).expect(error_code="NONE", committed_offset=5)
    await end_transaction(broker, connection, transaction)
    fetched = await fetch_stable(broker, group, topic)
    fetched.expect(error_code="NONE", committed_offset=8)


CHECKS: Final[tuple[Check, ...]] = (
    no_offset,
    no_offset_metadata,
    each_version,
    fetch_all,
    unknown_group,
    no_duplicates,
    each_partition,
    empty,
    several_groups,
    live_group,
    unknown_topic,
    unknown_topic_id,
    require_stable,
)
