"""Check `sequences`: an idempotent producer numbers its records without gaps, and sends none twice.

Each partition has its own sequence; it restarts at 0 with each producer id and epoch, and 0 follows 2^31 - 1.
A batch that failed, or whose outcome the client does not know, is sent again with its numbers. A client that
gives up waiting closes the connection and sends the batch on another one: it may never have read an
acknowledgement that the capture shows on the first connection. Rules: ProducerAppendInfo.checkSequence,
DefaultRecordBatch.incrementSequence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.facts import BEGUN, HALF, MODULUS, PLACES, PartitionFacts
from barnabas.captures.checks.finding import (
    Check,
    Evidence,
    Finding,
    NoSettings,
    See,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import ELEMENT, Memory
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.specs.keys import PRODUCE

REMEMBERED: Final = 32
"""Batches of a partition that are stored; a client has at most 5 in flight, a broker compares with the last
5."""

OUT_OF_ORDER_SEQUENCE_NUMBER: Final = 45
DUPLICATE_SEQUENCE_NUMBER: Final = 46
TAKEN: Final = (0, DUPLICATE_SEQUENCE_NUMBER)


@dataclass(slots=True)
class _Batch:
    base: int
    last: int
    until: int | None = None
    """When the client received its acknowledgement; None: not yet."""
    evidence: Evidence | None = None


@dataclass(slots=True)
class _Sequence:
    """The sequence numbers of a producer in one partition."""

    epoch: int
    next: int
    losses: int
    batches: deque[_Batch] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return ELEMENT * len(self.batches)

    def find(self, base: int) -> _Batch | None:
        return next((batch for batch in self.batches if batch.base == base), None)

    def before(self, base: int) -> _Batch | None:
        return next((batch for batch in self.batches if follows(batch.last) == base), None)


def follows(sequence: int) -> int:
    """Return the next sequence number.

    >>> follows(7), follows(2**31 - 1)
    (8, 0)
    """
    return (sequence + 1) % MODULUS


_Known = Memory[tuple[int, str, int], _Sequence]
"""By producer id, topic and partition."""


class _Ended(Memory[int, tuple[int, int, int]]):
    """The ended requests of each connection: their count, the highest index, and when the last one was sent.

    A request that has not ended may have missing sequence numbers.
    """

    def note(self, exchange: Exchange) -> None:
        count, highest, sent = self.get(exchange.connection, (0, -1, 0))
        highest = max(highest, exchange.ordinal)
        self[exchange.connection] = count + 1, highest, max(sent, exchange.ts)

    def all_before(self, exchange: Exchange) -> bool:
        """Return whether all requests before the latest ended one have ended."""
        count, highest, _ = self.get(exchange.connection, (0, -1, 0))
        return count == highest + 1

    def used_since(self, connection: int, ts: int) -> bool:
        """Return whether the client has sent a request on the connection at that time or later."""
        return self.get(connection, (0, -1, 0))[2] >= ts


class _Unheard(Memory[int, deque[Finding]]):
    """Findings about repeated batches, by the connection of the acknowledgement.

    A finding is only reported if the client sends another request there: else it may have given up the
    connection before it read the acknowledgement.
    """

    def keep(self, connection: int, finding: Finding) -> None:
        """Hold back a finding until another request on the connection."""
        waiting = self.get(connection, deque(maxlen=REMEMBERED))
        waiting.append(finding)
        self[connection] = waiting

    def settle(self, exchange: Exchange) -> Iterator[Finding]:
        """Yield the findings that a request on their connection confirms."""
        for finding in self.pop(exchange.connection, ()):
            if exchange.ts > finding.ts:
                yield finding
            else:
                self.keep(exchange.connection, finding)


@dataclass(slots=True)
class _State:
    """The state of the check."""

    known: _Known = field(default_factory=Memory)
    begun: Memory[tuple[int, int], int] = field(default_factory=Memory)
    """Producer ids and epochs that began in the capture, with the losses at that time."""
    ended: _Ended = field(default_factory=_Ended)
    unheard: _Unheard = field(default_factory=_Unheard)


def sequences(_: NoSettings) -> See:
    """Find skipped sequence numbers, repeated acknowledged batches, and wrongly rejected batches."""
    state = _State()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key != STRAY:
            state.ended.note(exchange)
            yield from state.unheard.settle(exchange)
        producer = BEGUN.of(exchange)
        if producer is not None:
            state.begun[producer] = exchange.losses
        if exchange.key == PRODUCE:
            for partition in PLACES.of(exchange, context) or ():
                yield from _next(exchange, partition, state)

    return see


def _next(exchange: Exchange, partition: PartitionFacts, state: _State) -> Iterator[Finding]:
    id_, epoch, base, last = (
        partition.producer_id,
        partition.producer_epoch,
        partition.base_sequence,
        partition.last_sequence,
    )
    if id_ is None or epoch is None or base is None or last is None:
        return
    key = id_, partition.topic, partition.partition
    sequence = state.known.get(key)
    if sequence is None or sequence.losses != exchange.losses or epoch > sequence.epoch:
        first = state.begun.get((id_, epoch)) == exchange.losses or (
            sequence is not None and sequence.losses == exchange.losses
        )
        sequence = state.known[key] = _Sequence(epoch, 0 if first else base, exchange.losses)
    if epoch < sequence.epoch:
        return  # a fenced producer, or an exchange that ended late
    produce_evidence = evidence(exchange)
    producer = f"{partition.text}: producer {id_} epoch {epoch}"
    ahead = (base - sequence.next) % MODULUS
    batch = sequence.find(base)
    if 0 < ahead < HALF and state.ended.all_before(exchange):
        yield _skipped(base, sequence, producer, produce_evidence, partition.topic)
    elif batch is not None:
        yield from _repeated(batch, state, producer, produce_evidence, partition.topic)
    if partition.error == OUT_OF_ORDER_SEQUENCE_NUMBER:
        yield from _refused(base, sequence, producer, produce_evidence, partition.topic)
    taken = partition.error in TAKEN
    if batch is None:
        batch = _Batch(base, last)
        sequence.batches.append(batch)
    if batch.until is None:
        batch.last, batch.evidence = last, produce_evidence
        batch.until = exchange.answered if taken else None
    if ahead < HALF:
        sequence.next = follows(last)
    state.known[key] = sequence


def _skipped(
    base: int, sequence: _Sequence, producer: str, produce_evidence: Evidence, topic: str
) -> Finding:
    before = sequence.batches[-1].evidence if sequence.batches else None
    count = (base - sequence.next) % MODULUS
    return Finding(
        "error",
        f"{producer} skipped {count} sequence numbers: {sequence.next} was expected, {base} was sent",
        "The broker rejects all that follows (OUT_OF_ORDER_SEQUENCE_NUMBER): records were "
        "lost on the way, or sent in another order than they were numbered.",
        (before, produce_evidence) if before else (produce_evidence,),
        topic,
    )


def _repeated(
    batch: _Batch, state: _State, producer: str, produce_evidence: Evidence, topic: str
) -> Iterator[Finding]:
    if batch.until is None or batch.evidence is None or produce_evidence.ts <= batch.until:
        return
    finding = Finding(
        "warning",
        f"{producer} sent sequence {batch.base} again after it had been acknowledged",
        "A broker detects such a duplicate only among the last 5 batches of the partition: look for "
        "what sends requests twice, or delays acknowledgements beyond the client's timeout.",
        (batch.evidence, produce_evidence),
        topic,
    )
    # a client that gives up waiting for a response closes the connection
    if state.ended.used_since(batch.evidence.connection, produce_evidence.ts):
        yield finding
    else:
        state.unheard.keep(batch.evidence.connection, finding)


def _refused(
    base: int, sequence: _Sequence, producer: str, produce_evidence: Evidence, topic: str
) -> Iterator[Finding]:
    before = sequence.before(base)
    if before is None or before.until is None or before.evidence is None:
        return
    # on another connection it may have arrived first, and its response late
    if (
        before.evidence.connection == produce_evidence.connection
        or produce_evidence.ts > before.until
    ):
        yield Finding(
            "warning",
            f"{producer}: sequence {base} was rejected as out of order, though the "
            "one before it was acknowledged",
            "Requests reached the broker in another order than they were sent, or the "
            "partition's leader has lost its producer state.",
            (before.evidence, produce_evidence),
            topic,
        )


CHECK: Final = Check(
    "sequences", NoSettings(), sequences, "gaps and duplicates in an idempotent producer's sequence numbers",
    "Produce v3+ with a producer id (KIP-98); new epochs of KIP-360 and KIP-890 begin at 0; at most 5 "
    "requests in flight (KAFKA-5494)", "producer",
)  # fmt: skip
