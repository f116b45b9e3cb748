"""`order`: pipelined requests do not change the order of a partition's records.

With several requests in flight, a request that fails and is sent again lands behind those that were sent
after it. The records of idempotent and transactional producers are numbered: there the numbers say what the
order is, however often a batch was refused and sent again. A broker that accepts a batch behind a gap in
the numbers breaks it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import ACKS, HALF, MODULUS, PLACES
from barnabas.captures.checks.finding import (
    Check,
    Evidence,
    Finding,
    NoSettings,
    See,
    client_key,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import PRODUCE

REMEMBERED: Final = 64
"""Batches of a client in a partition."""

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
    """Of its request on that connection; behind a gap they are numbered anew."""
    losses: int
    end: int
    """When the client heard what came of it."""
    checksum: int
    offset: int
    """Where it is; -1: it is not there, as far as the client knows."""
    evidence: Evidence
    sequence: int | None
    """Of its first record; None: the producer is not idempotent."""

    def pipelines(self, other: _Batch) -> bool:
        """Whether the other one was sent behind it, before its response came."""
        return (
            self.evidence.connection == other.evidence.connection
            and self.losses == other.losses
            and self.ordinal < other.ordinal
            and other.evidence.ts < self.end
        )

    def precedes(self, other: _Batch) -> bool:
        """Whether this one was sent before the other one, on whichever connection."""
        mine, its = (self.evidence.ts, self.ordinal), (other.evidence.ts, other.ordinal)
        return mine < its


_Key = tuple[str, str, int, int | None, int | None]
"""Client, topic, partition; id and epoch of an idempotent producer."""


def order(_: NoSettings) -> See:
    """Records of a partition behind others that their client had sent later."""
    known: Memory[_Key, deque[_Batch]] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key != PRODUCE or ACKS.of(exchange) == 0:
            return
        end, client = exchange.answered, client_key(exchange)
        for one in PLACES.of(exchange, context) or ():
            if one.checksum is None:
                continue
            taken = one.error == 0 and end is not None
            mine = _Batch(
                exchange.ordinal,
                exchange.losses,
                NEVER if end is None else end,
                one.checksum,
                one.offset if taken and one.offset is not None else -1,
                evidence(exchange),
                one.base_sequence,
            )
            key = (client, one.topic, one.partition, one.producer_id, one.producer_epoch)
            batches = known.get(key, deque(maxlen=REMEMBERED))
            if mine.offset >= 0:
                judge = _overtaken if mine.sequence is None else _misplaced
                yield from judge(one.text, mine, batches)
            batches.append(mine)
            known[key] = batches

    return see


def _overtaken(place: str, mine: _Batch, batches: deque[_Batch]) -> Iterator[Finding]:
    for other in batches:
        if other.offset > mine.offset and other.pipelines(mine):
            yield Finding(
                "error",
                f"{place}: records sent later come first in the log: offset {mine.offset} was "
                f"sent after offset {other.offset}",
                ADVICE,
                (other.evidence, mine.evidence),
            )
            return
    attempts = [one for one in batches if one.checksum == mine.checksum and one.offset < 0]
    for attempt in attempts:
        for other in batches:
            again = any(one.checksum == other.checksum and one.precedes(attempt) for one in batches)
            if 0 <= other.offset < mine.offset and attempt.pipelines(other) and not again:
                yield Finding(
                    "error",
                    f"{place}: retried records come after records sent later: offset "
                    f"{mine.offset} was sent before offset {other.offset}",
                    ADVICE,
                    (attempt.evidence, other.evidence, mine.evidence),
                )
                return


def _misplaced(place: str, mine: _Batch, batches: deque[_Batch]) -> Iterator[Finding]:
    """An idempotent producer's batch, against those that were in flight with it in any of their attempts."""
    for other in batches:
        ahead = ((mine.sequence or 0) - (other.sequence or 0)) % MODULUS
        if other.offset < 0 or not ahead or (ahead < HALF) == (other.offset < mine.offset):
            continue
        if _begun(mine, batches) < other.end and _begun(other, batches) < mine.end:
            yield Finding(
                "error",
                f"{place}: the broker accepted sequence {mine.sequence} at offset {mine.offset}, but "
                f"sequence {other.sequence} at offset {other.offset}",
                BROKER,
                tuple(sorted((other.evidence, mine.evidence))),
            )
            return


def _begun(batch: _Batch, batches: deque[_Batch]) -> int:
    """When the producer sent the batch for the first time, whether it is among the others or not."""
    attempts = [one.evidence.ts for one in batches if one.sequence == batch.sequence]
    return min([batch.evidence.ts, *attempts])


CHECK: Final = Check(
    "order", NoSettings(), order, "records of a partition that are not in the order in which "
                                  "they were sent",
    "Produce v0+ with acks=1 or all; several requests in flight "
    "(max.in.flight.requests.per.connection, since 0.8.2); of idempotent producers by their sequence "
    "numbers (KIP-98)", "partition",
)  # fmt: skip
