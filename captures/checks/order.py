"""Check `order`: pipelined requests keep the order of a partition's records.

With several requests in flight, a request that fails and is sent again follows those that were sent after it.
Records of idempotent and transactional producers have sequence numbers, which define their order however
often a batch is rejected and sent again. A broker that accepts a batch after a gap in the numbers breaks the
order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import ACKS, HALF, MODULUS, PLACES, PartitionFacts
from barnabas.captures.checks.finding import (
    Check,
    Evidence,
    Finding,
    NoSettings,
    See,
    client_key,
    evidence,
)
from barnabas.captures.checks.resends import Attempt, knew_of_failure
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import PRODUCE

REMEMBERED: Final = 64
"""Batches of a client in a partition that are stored."""

NEVER: Final = 1 << 63


ADVICE: Final = (
    "Set enable.idempotence=true (KIP-98), or max.in.flight.requests.per.connection=1, where "
    "order matters."
)

BROKER: Final = (
    "A broker must refuse a batch whose predecessor it does not have (OUT_OF_ORDER_SEQUENCE_NUMBER): "
    "look at the partition's leader, and at what lies between."
)


@dataclass(slots=True)
class _Batch:
    ordinal: int
    """The index of its request on the connection; after a gap indexes restart."""
    losses: int
    end: int
    """When the client received the response."""
    checksum: int
    offset: int
    """Its base offset; -1: not in the log, as far as the client knows."""
    evidence: Evidence
    sequence: int | None
    """The sequence number of its first record; None: the producer is not idempotent."""

    def pipelines(self, other: _Batch) -> bool:
        """Return whether the other batch was sent after it, before its response arrived."""
        return (
            self.evidence.connection == other.evidence.connection
            and self.losses == other.losses
            and self.ordinal < other.ordinal
            and other.evidence.ts < self.end
        )

    def repeats(self, failed: _Batch) -> bool:
        """Return whether this batch has the records of a failed one, and the client knew of its failure."""
        end = None if failed.end == NEVER else failed.end
        attempt = Attempt(failed.evidence.connection, failed.evidence.ts, end)
        return self.checksum == failed.checksum and knew_of_failure(
            attempt, self.evidence.ts, self.evidence.connection, None
        )

    def precedes(self, other: _Batch) -> bool:
        """Return whether this batch was sent before the other one, on any connection."""
        return (self.evidence.ts, self.ordinal) < (other.evidence.ts, other.ordinal)


_Key = tuple[str, str, int, int | None, int | None]
"""Client, topic, partition; id and epoch of an idempotent producer."""


def order(_: NoSettings) -> See:
    """Find records of a partition that follow records that their client had sent later."""
    batches_by_producer: Memory[_Key, deque[_Batch]] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key != PRODUCE or ACKS.of(exchange) == 0:
            return
        end, client = exchange.answered, client_key(exchange)
        for partition in PLACES.of(exchange, context) or ():
            if partition.checksum is None:
                continue
            taken = partition.error == 0 and end is not None
            sent = _Batch(
                exchange.ordinal,
                exchange.losses,
                NEVER if end is None else end,
                partition.checksum,
                partition.offset if taken and partition.offset is not None else -1,
                evidence(exchange),
                partition.base_sequence,
            )
            key = (
                client,
                partition.topic,
                partition.partition,
                partition.producer_id,
                partition.producer_epoch,
            )
            batches = batches_by_producer.get(key, deque(maxlen=REMEMBERED))
            if sent.offset >= 0:
                judge = _overtaken if sent.sequence is None else _misplaced
                yield from judge(partition, sent, batches)
            batches.append(sent)
            batches_by_producer[key] = batches

    return see


def _overtaken(
    partition: PartitionFacts, sent: _Batch, batches: deque[_Batch]
) -> Iterator[Finding]:
    for other in batches:
        if other.offset > sent.offset and other.pipelines(sent):
            yield Finding(
                "error",
                f"{partition.text}: records sent later come first in the log: offset {sent.offset} was "
                f"sent after offset {other.offset}",
                ADVICE,
                (other.evidence, sent.evidence),
                partition.topic,
            )
            return
    attempts = [batch for batch in batches if batch.offset < 0 and sent.repeats(batch)]
    for attempt in attempts:
        for other in batches:
            was_resent = any(
                batch.checksum == other.checksum and batch.precedes(attempt) for batch in batches
            )
            if 0 <= other.offset < sent.offset and attempt.pipelines(other) and not was_resent:
                yield Finding(
                    "error",
                    f"{partition.text}: retried records come after records sent later: offset "
                    f"{sent.offset} was sent before offset {other.offset}",
                    ADVICE,
                    (attempt.evidence, other.evidence, sent.evidence),
                    partition.topic,
                )
                return


def _misplaced(
    partition: PartitionFacts, sent: _Batch, batches: deque[_Batch]
) -> Iterator[Finding]:
    """Compare an idempotent producer's batch with those that were in flight with any of its attempts."""
    for other in batches:
        ahead = ((sent.sequence or 0) - (other.sequence or 0)) % MODULUS
        if other.offset < 0 or not ahead or (ahead < HALF) == (other.offset < sent.offset):
            continue
        if _first_attempt(sent, batches) < other.end and _first_attempt(other, batches) < sent.end:
            yield Finding(
                "error",
                f"{partition.text}: the broker accepted sequence {sent.sequence} at offset {sent.offset}, "
                f"but sequence {other.sequence} at offset {other.offset}",
                BROKER,
                tuple(sorted((other.evidence, sent.evidence))),
                partition.topic,
            )
            return


def _first_attempt(batch: _Batch, batches: deque[_Batch]) -> int:
    """Return when the producer first sent the batch."""
    attempts = [attempt.evidence.ts for attempt in batches if attempt.sequence == batch.sequence]
    return min([batch.evidence.ts, *attempts])


CHECK: Final = Check(
    "order", NoSettings(), order, "records of a partition that are not in the order in which "
                                  "they were sent",
    "Produce v0+ with acks=1 or all; several requests in flight "
    "(max.in.flight.requests.per.connection, since 0.8.2); of idempotent producers by their sequence "
    "numbers (KIP-98)", "partition",
)  # fmt: skip
