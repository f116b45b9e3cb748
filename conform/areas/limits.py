"""Boundaries: the largest value that is accepted, and the next one, which is refused."""

from __future__ import annotations

from typing import Final

from barnabas.conform.areas.topics import create_topics
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, commit, committed
from barnabas.conform.groups import Member, leave, new_member
from barnabas.conform.logs import batch, expect_log, expect_values, fetch, produce, produced
from barnabas.conform.offsets import delete_records
from barnabas.conform.transactions import uninitialised

LONGEST_NAME: Final = 249
"""Characters of the longest name of a topic (Topic.MAX_NAME_LENGTH)."""

LARGEST_METADATA: Final = 4096
"""Bytes of the largest metadata of a commit (offset.metadata.max.bytes, by default)."""

LARGEST_BATCH: Final = 1_048_588
"""Bytes of the largest batch, by default (max.message.bytes)."""

LONGEST_TRANSACTION_MS: Final = 900_000
"""The default of transaction.max.timeout.ms."""

SESSIONS_MS: Final = (6_000, 1_800_000)
"""The defaults of group.min.session.timeout.ms and group.max.session.timeout.ms."""


@check(
    "produce/message-size-limit",
    "TopicConfig.MAX_MESSAGE_BYTES",
    needs={"Produce": 3, "Fetch": 4, "CreateTopics": 0},
)
async def message_size_limit(broker: Broker) -> None:
    """A batch of max.message.bytes is stored, and a batch of a byte more gets MESSAGE_TOO_LARGE."""
    largest, larger = batch("x" * 500), batch("x" * 501)
    topic = await broker.topic(max_message_bytes=f"{len(largest)}")
    (await produce(broker, topic, largest)).expect(error_code="NONE")
    (await produce(broker, topic, larger)).expect(error_code="MESSAGE_TOO_LARGE")
    await expect_log(broker, topic, "x" * 500)


@check(
    "produce/default-size-limit",
    "TopicConfig.MAX_MESSAGE_BYTES",
    level=SHOULD,
    needs={"Produce": 3},
)
async def default_size_limit(broker: Broker) -> None:
    """A batch of 1,048,588 bytes is stored by default, and a larger one gets MESSAGE_TOO_LARGE."""
    topic = await broker.topic()
    value = "x" * (LARGEST_BATCH - len(batch("x" * 1_000_000)) + 1_000_000)
    (await produce(broker, topic, batch(value))).expect(error_code="NONE")
    response = await produce(broker, topic, batch(f"{value}x"))
    response.expect(error_code="MESSAGE_TOO_LARGE")


@check(
    "produce/compressed-size-limit",
    "TopicConfig.MAX_MESSAGE_BYTES",
    needs={"Produce": 3, "Fetch": 4, "CreateTopics": 0},
)
async def compressed_size_limit(broker: Broker) -> None:
    """The limit max.message.bytes applies to the compressed batch, not to its records."""
    topic = await broker.topic(max_message_bytes="1000")
    data = batch("x" * 5000, compression="gzip")
    (await produce(broker, topic, data)).expect(error_code="NONE")
    await expect_log(broker, topic, "x" * 5000)


@check("fetch/just-beyond-end", "UnifiedLog.read", needs={"Produce": 3, "Fetch": 4})
async def just_beyond_end(broker: Broker) -> None:
    """A Fetch from the end of the log gets no error, and one from the next offset OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    expect_values(await fetch(broker, topic, 2, max_wait_ms=0))
    (await fetch(broker, topic, 3)).expect(error_code="OFFSET_OUT_OF_RANGE")


@check("fetch/limits-zero", "KIP-74", level=SHOULD, needs={"Produce": 3, "Fetch": 4})
async def limits_zero(broker: Broker) -> None:
    """The first batch is returned even if max_bytes and partition_max_bytes are 0."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    expect_values(await fetch(broker, topic, 0, max_bytes=0, partition_max_bytes=0), "a")


@check(
    "fetch/start-of-log",
    "KIP-107; UnifiedLog.read",
    needs={"Produce": 3, "Fetch": 4, "DeleteRecords": 0},
)
async def start_of_log(broker: Broker) -> None:
    """A Fetch from the first offset that remains gets its record, and one from before OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    for value in ("a", "b", "c"):
        await produced(broker, topic, value)
    (await delete_records(broker, topic, 2)).expect(error_code="NONE", low_watermark=2)
    expect_values(await fetch(broker, topic, 2), "c")
    (await fetch(broker, topic, 1)).expect(error_code="OFFSET_OUT_OF_RANGE")


@check(
    "delete-records/just-beyond-end",
    "KIP-107",
    needs={"Produce": 3, "DeleteRecords": 0},
)
async def delete_just_beyond_end(broker: Broker) -> None:
    """The end of the log as offset deletes all records, and the next offset gets OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    (await delete_records(broker, topic, 3)).expect(error_code="OFFSET_OUT_OF_RANGE")
    (await delete_records(broker, topic, 2)).expect(error_code="NONE", low_watermark=2)


@check("topics/longest-name", "Topic.MAX_NAME_LENGTH", needs={"CreateTopics": 0})
async def longest_name(broker: Broker) -> None:
    """A topic may have a name of 249 characters."""
    name = broker.name("topic").ljust(LONGEST_NAME, "x")
    broker.created.append(("topic", name))
    response = await create_topics(broker, {"name": name})
    response.at("topics[0]").expect(name=name, error_code="NONE")


@check("commit/largest-metadata", "offset.metadata.max.bytes", level=SHOULD, needs=COMMITS)
async def largest_metadata(broker: Broker) -> None:
    """Metadata of 4,096 bytes is kept, and metadata of a byte more gets OFFSET_METADATA_TOO_LARGE."""
    topic, group = await broker.topic(), broker.name("group")
    largest = "x" * LARGEST_METADATA
    part = await commit(broker, group, topic, 5, committed_metadata=largest)
    part.at("partitions[0]").expect(error_code="NONE")
    (await committed(broker, group, topic)).expect(committed_offset=5, metadata=largest)
    part = await commit(broker, group, topic, 6, committed_metadata=f"{largest}x")
    part.at("partitions[0]").expect(error_code="OFFSET_METADATA_TOO_LARGE")


@check(
    "txn/init-longest-timeout",
    "transaction.max.timeout.ms",
    level=SHOULD,
    needs={"InitProducerId": 0},
)
async def longest_transaction(broker: Broker) -> None:
    """A timeout of 15 minutes, the default maximum, is accepted, and a longer one is refused."""
    made = await uninitialised(broker)
    (await made.init(timeout_ms=LONGEST_TRANSACTION_MS)).expect(error_code="NONE")
    response = await made.init(timeout_ms=LONGEST_TRANSACTION_MS + 1)
    response.expect(error_code="INVALID_TRANSACTION_TIMEOUT")


@check(
    "txn/init-timeout-not-positive",
    "TransactionStateManager.validateTransactionTimeoutMs",
    level=SHOULD,
    needs={"InitProducerId": 0},
)
async def no_transaction_timeout(broker: Broker) -> None:
    """Transaction timeouts of 0 and -1 get INVALID_TRANSACTION_TIMEOUT."""
    made = await uninitialised(broker)
    for timeout_ms in (0, -1):
        response = await made.init(timeout_ms=timeout_ms)
        response.expect(error_code="INVALID_TRANSACTION_TIMEOUT")


@check(
    "group/session-timeout-limits",
    "group.min.session.timeout.ms, group.max.session.timeout.ms",
    level=SHOULD,
    needs={"JoinGroup": 0, "LeaveGroup": 0},
)
async def session_timeout_limits(broker: Broker) -> None:
    """Session timeouts of 6 s and 30 minutes, the default limits, are accepted, and those beyond refused."""
    shortest, longest = SESSIONS_MS
    for session_ms in (shortest - 1, longest + 1):
        member = await new_member(broker, broker.name("group"), session_ms=session_ms)
        (await member.try_join()).expect(error_code="INVALID_SESSION_TIMEOUT")
    for session_ms in SESSIONS_MS:
        await _join_and_leave(await new_member(broker, broker.name("group"), session_ms=session_ms))


async def _join_and_leave(member: Member) -> None:
    await member.join()
    await leave(member.connection, member.group, member.id)


CHECKS: Final[tuple[Check, ...]] = (
    message_size_limit,
    default_size_limit,
    compressed_size_limit,
    just_beyond_end,
    limits_zero,
    start_of_log,
    delete_just_beyond_end,
    longest_name,
    largest_metadata,
    longest_transaction,
    no_transaction_timeout,
    session_timeout_limits,
)
