"""`central_rebalances`: a coordinator starts fetchers after all in the group have stopped, at their offsets.

These are the steps between STOPPING and STARTING in `CENTRAL_GROUP` (`states.py`), seen from outside. A
consumer that was given up looks like a skipped one until the coordinator sends it another request, so the
check waits for that.

Offsets belong to the group at any coordinator: they survive one that dies. A consumer reports its position
when it is stopped; one that was never stopped may be anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.schemas import CENTRAL_COORDINATION
from barnabas.designs.exchange import DialectExchange

Partition = tuple[str, str]

GROUPS: Final = 100
"""Groups that are remembered; it is a draft."""

MOST: Final = 1000
"""Consumers of a group."""

SHARE: Final = 1 << 20
"""Bytes of a group's consumers, nearly."""


@dataclass(slots=True)
class _Consumer:
    """A consumer on one connection. Times are ns since the epoch."""

    name: str
    auto_commit: bool
    losses: int
    """The capture's losses at its registration."""
    ready: int
    """The time of its last stop; before that, of its registration."""
    evidence: Evidence
    """The evidence of its last start; before that, of its registration."""
    stop_requested: bool = False
    """Whether it ever got a stop-fetcher."""
    started: int | None = None
    """The time of its last start-fetcher."""
    stopping: int = 0
    """The time of its last stop-fetcher: a start-fetcher may precede the response."""
    owns: frozenset[Partition] = frozenset()
    passed: tuple[int, str, Evidence] | None = None
    """A start of another consumer while this one ran: time, consumer and evidence."""

    @property
    def weight(self) -> int:
        """Return about how many bytes the consumer takes."""
        return weight((self.name, self.owns))

    def runs(self, other: _Consumer, ts: int) -> bool:
        """Return whether fetchers started before another consumer stopped still run at a time (ns)."""
        began = self.started
        if began is None or began >= other.ready:
            return False
        return self.stopping <= began or self.ready >= ts


@dataclass(slots=True)
class _Group:
    name: str
    consumers: Memory[int, _Consumer] = field(default_factory=lambda: Memory(MOST, SHARE))
    """Consumers by connection."""


class _Position(NamedTuple):
    """The position of a group in a partition."""

    offset: int
    """The largest offset in a response to stop-fetcher, or in a start-fetcher."""
    start: tuple[str, int, Evidence] | None = None
    """The last consumer that was started with the partition, and its offset."""


_Positions = Memory[tuple[str, str, str], _Position]
"""Positions by group, topic and partition."""


def central_rebalances(_: NoSettings) -> See:
    """Find fetchers started too early, and partitions with two owners or too low an offset."""
    groups: Memory[tuple[str, str], _Group] = Memory(GROUPS)
    places: _Positions = Memory()
    by_connection: Memory[int, tuple[str, str]] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        message = DialectExchange.of_dialect(CENTRAL_COORDINATION, exchange)
        if message is None:
            return
        if message.api == "RegisterConsumer":
            if message.error == "" and message.end is not None:
                name = message.request["group_id"]
                key = exchange.server_address, name
                group = groups.setdefault(key, _Group(name))
                by_connection[message.connection] = key
                auto, shown = message.request["auto_commit"], evidence(exchange)
                new = _Consumer(message.client, auto, exchange.losses, message.end, shown)
                group.consumers[message.connection] = new
            return
        known_group = groups.get(by_connection.get(message.connection, ("", "")))
        consumer = None if known_group is None else known_group.consumers.get(message.connection)
        if known_group is None or consumer is None:
            return
        if consumer.passed is not None and message.ts > consumer.passed[0]:
            (_, other, before), consumer.passed = consumer.passed, None
            yield Finding(
                "error",
                f"group {known_group.name}: {other} was started before {consumer.name} had stopped",
                "Send start-fetcher only after every consumer of the group has answered "
                "stop-fetcher.",
                (before, evidence(exchange)),
            )
        if message.api == "StopFetcher":
            consumer.stop_requested = True
            if message.error == "" and message.end is not None:
                consumer.stopping, consumer.ready = message.ts, message.end
                yield from _stopped(exchange, message, known_group.name, places)
        elif message.api == "StartFetcher":
            yield from _started(exchange, message, known_group, consumer)
            if consumer.auto_commit:
                yield from _begun(exchange, message, known_group.name, places)

    return see


def _stopped(
    exchange: Exchange, message: DialectExchange, group: str, positions: _Positions
) -> Iterator[Finding]:
    """Take the positions that a consumer reports; others may have started before."""
    for row in (message.response or {}).get("offset_info", ()):
        key = group, row["topic"], row["partition"]
        position = positions.get(key, _Position(row["offset"]))
        if position.start is not None:
            other, offset, before = position.start
            if other != message.client and offset < row["offset"]:
                position = position._replace(start=None)
                yield Finding(
                    "warning",
                    f"group {group}: {row['topic']} {row['partition']} was started from offset "
                    f"{offset} at {other}, though {message.client} was at {row['offset']}",
                    "The records in between are fetched twice: stop a consumer before its partitions "
                    "are another's. A new coordinator does not know who is still to register.",
                    (before, evidence(exchange)),
                )
        positions[key] = position._replace(offset=max(position.offset, row["offset"]))


def _begun(
    exchange: Exchange, message: DialectExchange, group: str, positions: _Positions
) -> Iterator[Finding]:
    """Check the offsets at which a consumer is started: the group's positions."""
    for row in message.request["offset_info"]:
        key, offset, shown = (
            (group, row["topic"], row["partition"]),
            row["offset"],
            evidence(exchange),
        )
        position = positions.get(key, _Position(offset))
        is_lower = offset < position.offset
        if is_lower:
            yield Finding(
                "warning",
                f"group {group}: {row['topic']} {row['partition']} was started from offset "
                f"{offset}, but the group had been at {position.offset}",
                "The records in between are fetched twice: store the offsets that stop-fetcher "
                "returns.",
                (shown,),
            )
        start = None if is_lower else (message.client, offset, shown)
        positions[key] = _Position(max(position.offset, offset), start)


def _started(
    exchange: Exchange, message: DialectExchange, group: _Group, consumer: _Consumer
) -> Iterator[Finding]:
    proof = evidence(exchange)
    if not consumer.stop_requested and consumer.losses == exchange.losses:
        yield Finding(
            "error",
            f"group {group.name}: {consumer.name} was started, though it had not been asked where it was",
            "Send stop-fetcher to every consumer of the group before you start any, also to one that "
            "registers meanwhile: else it begins again from what is stored.",
            (consumer.evidence, proof),
        )
    consumer.started, consumer.evidence = message.ts, proof
    consumer.owns = frozenset(
        (row["topic"], row["partition"]) for row in message.request["offset_info"]
    )
    group.consumers[message.connection] = consumer
    for other in group.consumers.values():
        if other is consumer or other.started is None:
            continue
        if other.runs(consumer, message.ts):
            other.passed = other.passed or (message.ts, consumer.name, consumer.evidence)
        elif (
            other.started > consumer.ready and other.started > other.ready
        ):  # of the same rebalance
            for topic, partition in sorted(consumer.owns & other.owns):
                yield Finding(
                    "error",
                    f"group {group.name}: {other.name} and {consumer.name} both own {topic} {partition}",
                    "A rebalance must give each partition one owner.",
                    (other.evidence, proof),
                )


CHECK: Final = Check(
    "central_rebalances", NoSettings(), central_rebalances,
    "fetchers started while others run, or before their positions were requested; partitions with "
    "two owners, or started after the position of the group",
    "the dialect central-coordination; groups of which all RegisterConsumer requests were captured",
)  # fmt: skip
