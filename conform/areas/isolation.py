"""Transactions as consumers see them: last stable offset, aborted transactions, markers, offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import OneOf
from barnabas.conform.logs import expect_values, fetch, produced, values_of
from barnabas.conform.offsets import LATEST, list_offsets
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.transactions import producer, written
from barnabas.specs.records import read
from barnabas.specs.records.batch import Batch
from barnabas.specs.records.control import control_type

NEEDS: Final = {"InitProducerId": 0, "AddPartitionsToTxn": 0, "EndTxn": 0, "Produce": 3, "Fetch": 4}
COMMITTED: Final = 1
"""The isolation level read_committed."""


@dataclass(frozen=True, slots=True)
class Log:
    """Records of a partition from its start to the last stable offset, read with read_committed."""

    part: Response
    """The last response."""
    batches: tuple[Batch, ...]
    aborted: frozenset[tuple[int, int]]
    """Producer id and first offset of the aborted transactions."""

    @property
    def values(self) -> list[str]:
        """Return the values of records that are not markers, aborted ones included."""
        batches = [batch for batch in self.batches if not batch.is_control]
        return [(record.value or b"").decode() for batch in batches for record in batch.records()]

    @property
    def markers(self) -> list[str]:
        """Return the types of control records."""
        batches = [batch for batch in self.batches if batch.is_control]
        return [control_type(record) for batch in batches for record in batch.records()]


async def _read(broker: Broker, topic: str, end: int) -> Log:
    """Read a partition with read_committed up to an offset, for at most 5 s.

    Brokers may answer EndTxn before its marker is in the log; records of others can come before the marker.
    A response may end with any batch: brokers return less than the log has where a segment ends.
    """
    deadline = await Now() + 5
    offset, batches, aborted = 0, [], set()
    while True:
        part = await fetch(broker, topic, offset, isolation_level=COMMITTED, max_wait_ms=100)
        part.expect(error_code="NONE")
        aborted |= {
            (row["producer_id"], row["first_offset"]) for row in part["aborted_transactions"] or ()
        }
        for batch in read(part["records"] or b""):
            batches.append(batch)
            offset = batch.last_offset + 1
        if offset >= end or await Now() > deadline:
            return Log(part, tuple(batches), frozenset(aborted))


@check("isolation/open", "KIP-98, last_stable_offset", needs=NEEDS, each="Fetch")
async def open_transaction(broker: Broker) -> None:
    """With read_committed a Fetch returns nothing from the start of an open transaction on."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    await written(broker, topic, "bc", commit=None)
    part = await fetch(broker, topic, 0, isolation_level=COMMITTED, max_wait_ms=0)
    part.expect(error_code="NONE", last_stable_offset=1, high_watermark=3)
    expect_values(part, "a")


@check("isolation/open-uncommitted", "KIP-98", needs=NEEDS)
async def open_uncommitted(broker: Broker) -> None:
    """With read_uncommitted a Fetch returns the records of an open transaction."""
    topic = await broker.topic()
    await written(broker, topic, "bc", commit=None)
    expect_values(await fetch(broker, topic, 0, max_wait_ms=0), "b", "c")


@check("isolation/committed", "KIP-98", needs=NEEDS)
async def committed(broker: Broker) -> None:
    """After a commit a Fetch with read_committed returns the records, and no aborted transactions."""
    topic = await broker.topic()
    await written(broker, topic, "ab", commit=True)
    log = await _read(broker, topic, 3)
    log.part.expect(last_stable_offset=3, high_watermark=3)
    if log.values != ["a", "b"] or log.aborted:
        received = f"{log.values}, {sorted(log.aborted)}"
        raise log.part.failed("", "records a and b, no aborted transaction", received)


@check("isolation/aborted", "KIP-98, aborted_transactions", needs=NEEDS, each="Fetch")
async def aborted(broker: Broker) -> None:
    """After an abort a Fetch with read_committed lists the transaction as aborted, with its first offset."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    made = await written(broker, topic, "bc", commit=False)
    log = await _read(broker, topic, 4)
    if log.aborted != {(made.producer_id, 1)}:
        expected = f"producer id {made.producer_id} from offset 1"
        raise log.part.failed("aborted_transactions", expected, f"{sorted(log.aborted)}")


@check("isolation/aborted-two", "KIP-98, aborted_transactions", needs=NEEDS)
async def aborted_two(broker: Broker) -> None:
    """Each aborted transaction in the fetched range is listed."""
    topic = await broker.topic()
    first = await written(broker, topic, "a", commit=False)
    await _read(broker, topic, 2)
    second = await written(broker, topic, "b", commit=False)
    log = await _read(broker, topic, 4)
    expected = {(first.producer_id, 0), (second.producer_id, 2)}
    if log.aborted != expected:
        received = f"{sorted(log.aborted)}"
        raise log.part.failed("aborted_transactions", f"{sorted(expected)}", received)


@check(
    "isolation/uncommitted-lists-none",
    "FetchResponse.json, aborted_transactions",
    level=SHOULD,
    needs=NEEDS,
)
async def uncommitted_lists_none(broker: Broker) -> None:
    """With read_uncommitted a Fetch lists no aborted transactions."""
    topic = await broker.topic()
    await written(broker, topic, "a", commit=False)
    await _read(broker, topic, 2)
    (await fetch(broker, topic, 0, max_wait_ms=0)).expect(aborted_transactions=None)


@check("isolation/markers", "KIP-98, EndTransactionMarker", needs=NEEDS)
async def markers(broker: Broker) -> None:
    """A commit and an abort end with a control record of their type."""
    topic = await broker.topic()
    await written(broker, topic, "a", commit=True)
    await _read(broker, topic, 2)
    await written(broker, topic, "b", commit=False)
    log = await _read(broker, topic, 4)
    if log.markers != ["COMMIT", "ABORT"]:
        raise log.part.failed("records", "markers COMMIT and ABORT", f"{log.markers}")


@check("isolation/interleaved", "KIP-98, ProducerStateManager", needs=NEEDS)
async def interleaved(broker: Broker) -> None:
    """With two open transactions the last stable offset is the start of the first one."""
    topic = await broker.topic()
    first = await written(broker, topic, "a", commit=None)
    second = await written(broker, topic, "b", commit=None)
    (await second.end(commit=True)).expect(error_code="NONE")
    part = await fetch(broker, topic, 0, isolation_level=COMMITTED, max_wait_ms=0)
    part.expect(last_stable_offset=0)
    (await first.end(commit=True)).expect(error_code="NONE")
    log = await _read(broker, topic, 4)
    if log.values != ["a", "b"]:
        raise log.part.failed("records", "records a and b", f"{log.values}")


@check(
    "isolation/latest-offset",
    "KIP-98, ListOffsets isolation_level",
    needs={**NEEDS, "ListOffsets": 2},
)
async def latest_offset(broker: Broker) -> None:
    """With read_committed the latest offset is the last stable offset."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    await written(broker, topic, "bc", commit=None)
    (await list_offsets(broker, topic, LATEST, isolation_level=COMMITTED)).expect(offset=1)
    (await list_offsets(broker, topic, LATEST)).expect(offset=3)


@check("isolation/not-transactional", "KIP-98", needs=NEEDS)
async def not_transactional(broker: Broker) -> None:
    """Records that follow an open transaction are invisible to read_committed until it ends."""
    topic = await broker.topic()
    made = await written(broker, topic, "a", commit=None)
    await produced(broker, topic, "b")
    part = await fetch(broker, topic, 0, isolation_level=COMMITTED, max_wait_ms=0)
    if values_of(part):
        raise part.failed("records", "no records", f"{values_of(part)}")
    (await made.end(commit=False)).expect(error_code="NONE")
    log = await _read(broker, topic, 3)
    if "b" not in log.values:
        raise log.part.failed("records", "record b", f"{log.values}")


async def _committed_offset(broker: Broker, group: str, topic: str) -> Any:
    """Return the committed offset of partition 0 of a topic."""
    version = broker.version("OffsetFetch", 1, 7)
    response = await (await broker.coordinator(group)).send(
        "OffsetFetch",
        version,
        group_id=group,
        topics=[{"name": topic, "partition_indexes": [0]}],
        require_stable=False,
    )
    part = response.at("topics[0].partitions[0]").expect(error_code="NONE")
    return part["committed_offset"]


OFFSETS: Final = {**NEEDS, "AddOffsetsToTxn": 0, "TxnOffsetCommit": 0, "OffsetFetch": 1}


@check("isolation/offsets-pending", "KIP-98, TxnOffsetCommit", needs=OFFSETS)
async def offsets_pending(broker: Broker) -> None:
    """Offsets of a transaction are not committed before it ends."""
    topic, group = await broker.topic(), broker.name("group")
    made = await producer(broker)
    (await made.commit_offset(group, topic, 5)).expect(error_code="NONE")
    offset = await _committed_offset(broker, group, topic)
    if offset != -1:
        raise (await made.end(commit=False)).failed("", "no committed offset", f"{offset}")


@check("isolation/offsets-committed", "KIP-98, TxnOffsetCommit", needs=OFFSETS)
async def offsets_committed(broker: Broker) -> None:
    """Offsets of a transaction are committed with it."""
    await _offsets_end(broker, commit=True, expected=5)


@check("isolation/offsets-aborted", "KIP-98, TxnOffsetCommit", needs=OFFSETS)
async def offsets_aborted(broker: Broker) -> None:
    """Offsets of an aborted transaction are discarded."""
    await _offsets_end(broker, commit=False, expected=-1)


async def _offsets_end(broker: Broker, *, commit: bool, expected: int) -> None:
    topic, group = await broker.topic(), broker.name("group")
    made = await producer(broker)
    (await made.commit_offset(group, topic, 5)).expect(error_code="NONE")
    ended = await made.end(commit=commit)
    ended.expect(error_code="NONE")
    deadline = await Now() + (5 if commit else 1)
    while True:
        offset = await _committed_offset(broker, group, topic)
        if offset == expected and commit:
            return
        if offset not in (expected, -1) or await Now() > deadline:
            break
        await Sleep(0.1)
    if offset != expected:
        raise ended.failed("", f"committed offset {expected}", f"{offset}")


@check("isolation/offsets-unstable", "KIP-447, require_stable", needs={**OFFSETS, "OffsetFetch": 7})
async def offsets_unstable(broker: Broker) -> None:
    """OffsetFetch that requires stable offsets gets UNSTABLE_OFFSET_COMMIT while a transaction is open."""
    topic, group = await broker.topic(), broker.name("group")
    made = await producer(broker)
    (await made.commit_offset(group, topic, 5)).expect(error_code="NONE")
    response = await (await broker.coordinator(group)).send(
        "OffsetFetch",
        broker.version("OffsetFetch", 7, 7),
        group_id=group,
        topics=[{"name": topic, "partition_indexes": [0]}],
        require_stable=True,
    )
    response.at("topics[0].partitions[0]").expect(error_code="UNSTABLE_OFFSET_COMMIT")


@check(
    "isolation/offsets-unknown-member",
    "KIP-447",
    level=SHOULD,
    needs={**OFFSETS, "TxnOffsetCommit": 3},
)
async def offsets_unknown_member(broker: Broker) -> None:
    """Offsets of a member that the group does not have are refused.

    Kafka 4 reports the unknown group by ILLEGAL_GENERATION, older releases the unknown member.
    """
    topic, group = await broker.topic(), broker.name("group")
    made = await producer(broker)
    part = await made.commit_offset(
        group, topic, 5, generation_id_or_member_epoch=3, member_id="nobody"
    )
    part.expect(error_code=OneOf("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"))


CHECKS: Final[tuple[Check, ...]] = (
    open_transaction,
    open_uncommitted,
    committed,
    aborted,
    aborted_two,
    uncommitted_lists_none,
    markers,
    interleaved,
    latest_offset,
    not_transactional,
    offsets_pending,
    offsets_committed,
    offsets_aborted,
    offsets_unstable,
    offsets_unknown_member,
)
