"""`sequences`: an idempotent producer numbers its records without gaps, and sends none twice.

Each partition has a sequence of its own; it begins at 0 with each producer id and with each epoch, and
0 follows 2^31 - 1. A batch that failed, or whose outcome the client does not know, is sent again with
its numbers. A client that gives up waiting closes the connection and sends the batch on another one: it may
never have read an acknowledgement that the capture shows on the first.
Rules: ProducerAppendInfo.checkSequence, DefaultRecordBatch.incrementSequence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.facts import BEGUN, HALF, MODULUS, PLACES, Place
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
"""Batches of a partition; a client has at most 5 in flight, a broker compares with the last 5."""

OUT_OF_ORDER_SEQUENCE_NUMBER: Final = 45
DUPLICATE_SEQUENCE_NUMBER: Final = 46
TAKEN: Final = (0, DUPLICATE_SEQUENCE_NUMBER)


@dataclass(slots=True)
class _Batch:
    base: int
    last: int
    until: int | None = None
    """When the client had heard that it was taken; None: it had not."""
    evidence: Evidence | None = None


@dataclass(slots=True)
class _Sequence:
    """A producer's numbers in one partition."""

    epoch: int
    next: int
    losses: int
    batches: deque[_Batch] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return ELEMENT * len(self.batches)

    def find(self, base: int) -> _Batch | None:
        return next((batch for batch in self.batches if batch.base == base), None)

    def before(self, base: int) -> _Batch | None:
        return next((batch for batch in self.batches if follows(batch.last) == base), None)


def follows(sequence: int) -> int:
    """The number behind this one.

    >>> follows(7), follows(2**31 - 1)
    (8, 0)
    """
    return (sequence + 1) % MODULUS


_Known = Memory[tuple[int, str, int], _Sequence]
"""By producer id, topic and partition."""


class _Ended(Memory[int, tuple[int, int, int]]):
    """Which requests of each connection have ended, how many and up to which: what still waits may hold
    numbers. And when the last of them was sent."""

    def note(self, exchange: Exchange) -> None:
        count, highest, sent = self.get(exchange.connection, (0, -1, 0))
        highest = max(highest, exchange.ordinal)
        self[exchange.connection] = count + 1, highest, max(sent, exchange.ts)

    def all_before(self, exchange: Exchange) -> bool:
        """Whether nothing waits that was sent before the last one that has ended."""
        count, highest, _ = self.get(exchange.connection, (0, -1, 0))
        return count == highest + 1

    def used_since(self, connection: int, ts: int) -> bool:
        """Whether the client has sent a request on the connection at that time or later."""
        return self.get(connection, (0, -1, 0))[2] >= ts


class _Unheard(Memory[int, deque[Finding]]):
    """Batches that were sent again, by the connection of the acknowledgement. Findings only if the client
    sends another request there: else it may have given up that connection before."""

    def keep(self, connection: int, finding: Finding) -> None:
        """Wait for another request on the connection."""
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
class _Seen:
    """What the check remembers."""

    known: _Known = field(default_factory=Memory)
    begun: Memory[tuple[int, int], int] = field(default_factory=Memory)
    """Producer ids and epochs that the capture saw begin, with the losses at that time."""
    ended: _Ended = field(default_factory=_Ended)
    unheard: _Unheard = field(default_factory=_Unheard)


def sequences(_: NoSettings) -> See:
    """Numbers left out, records sent again though taken, and what follows but is refused."""
    seen = _Seen()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key != STRAY:
            seen.ended.note(exchange)
            yield from seen.unheard.settle(exchange)
        producer = BEGUN.of(exchange)
        if producer is not None:
            seen.begun[producer] = exchange.losses
        if exchange.key == PRODUCE:
            for one in PLACES.of(exchange, context) or ():
                yield from _next(exchange, one, seen)

    return see


def _next(exchange: Exchange, one: Place, seen: _Seen) -> Iterator[Finding]:
    id_, epoch, base, last = (
        one.producer_id,
        one.producer_epoch,
        one.base_sequence,
        one.last_sequence,
    )
    if id_ is None or epoch is None or base is None or last is None:
        return
    place = id_, one.topic, one.partition
    sequence = seen.known.get(place)
    if sequence is None or sequence.losses != exchange.losses or epoch > sequence.epoch:
        first = seen.begun.get((id_, epoch)) == exchange.losses or (
            sequence is not None and sequence.losses == exchange.losses
        )
        sequence = seen.known[place] = _Sequence(epoch, 0 if first else base, exchange.losses)
    if epoch < sequence.epoch:
        return  # a zombie, or an exchange that ended late
    mine = evidence(exchange)
    who = f"{one.text}: producer {id_} epoch {epoch}"
    ahead = (base - sequence.next) % MODULUS
    again = sequence.find(base)
    if 0 < ahead < HALF and seen.ended.all_before(exchange):
        yield _skipped(base, sequence, who, mine)
    elif again is not None:
        yield from _repeated(again, seen, who, mine)
    if one.error == OUT_OF_ORDER_SEQUENCE_NUMBER:
        yield from _refused(base, sequence, who, mine)
    taken = one.error in TAKEN
    if again is None:
        again = _Batch(base, last)
        sequence.batches.append(again)
    if again.until is None:
        again.last, again.evidence = last, mine
        again.until = exchange.answered if taken else None
    if ahead < HALF:
        sequence.next = follows(last)
    seen.known[place] = sequence


def _skipped(base: int, sequence: _Sequence, who: str, mine: Evidence) -> Finding:
    before = sequence.batches[-1].evidence if sequence.batches else None
    count = (base - sequence.next) % MODULUS
    return Finding(
        "error",
        f"{who} skipped {count} sequence numbers: {sequence.next} was expected, {base} was sent",
        "The broker rejects all that follows (OUT_OF_ORDER_SEQUENCE_NUMBER): records were "
        "lost on the way, or sent in another order than they were numbered.",
        (before, mine) if before else (mine,),
    )


def _repeated(again: _Batch, seen: _Seen, who: str, mine: Evidence) -> Iterator[Finding]:
    if again.until is None or again.evidence is None or mine.ts <= again.until:
        return
    finding = Finding(
        "warning",
        f"{who} sent sequence {again.base} again after it had been acknowledged",
        "A broker detects such a duplicate only among the last 5 batches of the partition: look for "
        "what sends requests twice, or delays acknowledgements beyond the client's timeout.",
        (again.evidence, mine),
    )
    # whoever gives up waiting for a response closes the connection
    if seen.ended.used_since(again.evidence.connection, mine.ts):
        yield finding
    else:
        seen.unheard.keep(again.evidence.connection, finding)


def _refused(base: int, sequence: _Sequence, who: str, mine: Evidence) -> Iterator[Finding]:
    before = sequence.before(base)
    if before is None or before.until is None or before.evidence is None:
        return
    # on another connection it may have come first, and its response late
    if before.evidence.connection == mine.connection or mine.ts > before.until:
        yield Finding(
            "warning",
            f"{who}: sequence {base} was rejected as out of order, though the "
            "one before it was acknowledged",
            "Requests reached the broker in another order than they were sent, or the "
            "partition's leader has lost its producer state.",
            (before.evidence, mine),
        )


CHECK: Final = Check(
    "sequences", NoSettings(), sequences, "gaps and duplicates in an idempotent producer's sequence numbers",
    "Produce v3+ with a producer id (KIP-98); new epochs of KIP-360 and KIP-890 begin at 0; at most 5 "
    "requests in flight (KAFKA-5494)", "producer",
)  # fmt: skip
