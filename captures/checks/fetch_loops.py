"""Check `fetch_loops`: a consumer does not repeat Fetches that fail or get no further.

A Fetch waits for records up to max_wait_ms, but an error is answered at once: a client that ignores errors
sends Fetches as fast as the network allows. So does a consumer that continues after the last record of a
batch instead of its last offset: compaction removes records, but a batch keeps its last offset
(CompletedFetch.nextFetchOffset). Followers are ignored: before 0.9 they do not pause while the leader of a
new partition does not know it yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import PLACES, PartitionFacts
from barnabas.captures.checks.finding import MS, Check, Evidence, Finding, See, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH, SHARE_FETCH

ADVICE: Final = {
    "OFFSET_OUT_OF_RANGE": "Set auto.offset.reset, or seek to an offset that exists. If the client asks "
    "for one with ListOffsets in between, the broker offers what it refuses: look at its log.",
    "NOT_LEADER_OR_FOLLOWER": "Refresh the metadata before the next Fetch, and wait in between "
    "(retry.backoff.ms).",
    "UNKNOWN_TOPIC_OR_PARTITION": "Refresh the metadata before the next Fetch, and wait in "
    "between (retry.backoff.ms).",
    "FETCH_SESSION_ID_NOT_FOUND": "Start a new fetch session with epoch 0 (KIP-227).",
    "INVALID_FETCH_SESSION_EPOCH": "Start a new fetch session with epoch 0 (KIP-227).",
}


@dataclass(frozen=True, slots=True)
class FetchLoops:
    """The thresholds for loops."""

    times: int = 10
    """Fetches in a row with the same error."""
    apart_ms: float = 100.0
    """The longest time after the previous response within which each of them is sent."""
    stuck: int = 20
    """Fetches in a row from the same offset that returned records: an application may retry a record, in
    Spring Kafka ten times."""
    again_ms: float = 1000.0
    """The longest time after the previous response within which each of them is sent."""
    deliveries: int = 5
    """Times that a share group acquires a record: by default the broker then gives it up."""


_Key = tuple[int, str, int]
"""Connection, topic, partition."""


@dataclass(slots=True)
class _Loop:
    error: int
    end: int
    first: Evidence
    times: int = 1


@dataclass(slots=True)
class _Position:
    offset: int
    """The latest requested offset: in a session (KIP-227) a Fetch only has changed ones."""
    end: int = 0
    times: int = 0
    """Fetches in a row from it that returned records."""
    first: Evidence | None = None


def fetch_loops(settings: FetchLoops) -> See:
    """Find Fetches that fail without a pause or get no further, and records acquired repeatedly."""
    loops: Memory[_Key, _Loop] = Memory()
    positions: Memory[_Key, _Position] = Memory()
    acquired: Memory[_Key, int] = Memory()
    """Offsets that were reported last."""

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        end = exchange.answered
        if exchange.key not in (FETCH, SHARE_FETCH) or end is None:
            return
        for partition in PLACES.of(exchange, context) or ():
            if exchange.key == SHARE_FETCH:
                yield from _acquired(exchange, partition, acquired, settings)
                continue
            yield from _stuck(exchange, partition, end, positions, settings)
            error = partition.error
            if error is None:
                continue
            key = exchange.connection, partition.topic, partition.partition
            loop = loops.get(key)
            if not error:
                if loop is not None:
                    del loops[key]
                continue
            hasty = loop and exchange.ts - loop.end < settings.apart_ms * MS
            if loop is None or not hasty or loop.error != error:
                loops[key] = _Loop(error, end, evidence(exchange))
                continue
            loop.times += 1
            loop.end = end
            if loop.times == settings.times:
                text = error_name(error)
                yield Finding(
                    "warning",
                    f"Fetch of {partition.text} failed {loop.times} times in a row with {text}",
                    ADVICE.get(text, "Wait before the next Fetch (retry.backoff.ms)."),
                    (loop.first, evidence(exchange)),
                    partition.topic,
                )

    return see


def _stuck(
    exchange: Exchange,
    partition: PartitionFacts,
    end: int,
    positions: Memory[_Key, _Position],
    settings: FetchLoops,
) -> Iterator[Finding]:
    key = exchange.connection, partition.topic, partition.partition
    position = positions.get(key)
    if partition.offset is not None and (position is None or position.offset != partition.offset):
        position = positions[key] = _Position(partition.offset)
    if position is None:
        return
    if partition.next_offset is None or partition.error:
        position.times = 0
        return
    pause = exchange.ts - position.end
    if position.times and pause < 0:
        return  # it was sent before the previous response arrived
    if not position.times or pause >= settings.again_ms * MS:
        position.times, position.first = 0, evidence(exchange)
    position.times += 1
    position.end = end
    if position.times == settings.stuck and position.first is not None:
        returned, advice = _describe_records(position.offset, partition.next_offset)
        yield Finding(
            "warning",
            f"Fetch of {partition.text} asked for offset {position.offset} {settings.stuck} times in a "
            f"row, though {returned}",
            advice,
            (position.first, evidence(exchange)),
            partition.topic,
        )


def _describe_records(offset: int, next_offset: int) -> tuple[str, str]:
    """Describe the records returned for a Fetch from an offset, and the remedy."""
    if next_offset < 0:
        return "part of a batch came each time", (
            "Raise max.partition.fetch.bytes (fetch.message.max.bytes in 0.8): the batch is larger. From "
            "Fetch v3 on brokers send the first batch whole (KIP-74)."
        )
    batch = f"a batch up to offset {next_offset - 1} came"
    if next_offset <= offset:
        return batch, "The broker sends what stands before the offset: look at its log segment."
    return batch, (
        f"Continue at offset {next_offset}, which is the batch's base offset + lastOffsetDelta + "
        f"1, "
        "whatever records it has; if the application seeks back, let it wait in between."
    )


def _acquired(
    exchange: Exchange, partition: PartitionFacts, reported: Memory[_Key, int], settings: FetchLoops
) -> Iterator[Finding]:
    key = exchange.connection, partition.topic, partition.partition
    offset, times = partition.offset, partition.deliveries
    if (
        offset is None
        or times is None
        or times < settings.deliveries
        or reported.get(key) == offset
    ):
        return
    reported[key] = offset
    yield Finding(
        "warning",
        f"ShareFetch of {partition.text} acquired offset {offset} for the {times}th time",
        "The broker gives up records that are acquired too often (group.share.delivery.count.limit, "
        "5 by default): acknowledge them before their lock times out, or reject them.",
        (evidence(exchange),),
        partition.topic,
    )


CHECK: Final = Check(
    "fetch_loops", FetchLoops(), fetch_loops,
    "Fetch requests repeated that fail with the same error or get no further",
    "Fetch v0+, by partition; errors of the whole request since v7 (fetch sessions, KIP-227); "
    "ShareFetch v0+ (KIP-932)",
)  # fmt: skip
