"""`central_rebalances`: a coordinator starts fetchers when all of the group have stopped theirs, and where.

That is what `CENTRAL_GROUP` (`states.py`) has between STOPPING and STARTING, seen
from outside. A consumer that was given up looks like one that was passed over, until the coordinator asks it
something more: so that is waited for.

Offsets are those of the group at whichever coordinator: they outlive one that dies. Where a consumer was, it
says when it is asked to stop; who was never asked may have been anywhere.
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
    """Of one connection. Times are ns since the epoch."""

    name: str
    auto_commit: bool
    losses: int
    """Of the capture, when it had registered."""
    ready: int
    """When it had last stopped; before that, when it had registered."""
    evidence: Evidence
    """Of its last start; before that, of its registration."""
    asked: bool = False
    """Whether it was ever asked to stop."""
    started: int | None = None
    """When it was last told to start."""
    stopping: int = 0
    """When it was asked for its last stop: it may have been told to start before it answered."""
    owns: frozenset[Partition] = frozenset()
    passed: tuple[int, str, Evidence] | None = None
    """When another was started though this one ran, which one, and where that stands."""

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
    """By connection."""


class _Place(NamedTuple):
    """Where a group is in a partition."""

    offset: int
    """The farthest that an answer to stop-fetcher, or a start-fetcher, had."""
    start: tuple[str, int, Evidence] | None = None
    """Who was last told to start with it, and from which offset."""


_Places = Memory[tuple[str, str, str], _Place]
"""By group, topic and partition."""


def central_rebalances(_: NoSettings) -> See:
    """Find fetchers started too early, and partitions with two owners or too low an offset."""
    groups: Memory[tuple[str, str], _Group] = Memory(GROUPS)
    places: _Places = Memory()
    by_connection: Memory[int, tuple[str, str]] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        seen = DialectExchange.of_dialect(CENTRAL_COORDINATION, exchange)
        if seen is None:
            return
        if seen.api == "RegisterConsumer":
            if seen.error == "" and seen.end is not None:
                name = seen.request["group_id"]
                key = exchange.server_address, name
                group = groups.setdefault(key, _Group(name))
                by_connection[seen.connection] = key
                auto, shown = seen.request["auto_commit"], evidence(exchange)
                new = _Consumer(seen.client, auto, exchange.losses, seen.end, shown)
                group.consumers[seen.connection] = new
            return
        found = groups.get(by_connection.get(seen.connection, ("", "")))
        one = None if found is None else found.consumers.get(seen.connection)
        if found is None or one is None:
            return
        if one.passed is not None and seen.ts > one.passed[0]:
            (_, other, before), one.passed = one.passed, None
            yield Finding(
                "error",
                f"group {found.name}: {other} was started before {one.name} had stopped",
                "Send start-fetcher only after every consumer of the group has answered "
                "stop-fetcher.",
                (before, evidence(exchange)),
            )
        if seen.api == "StopFetcher":
            one.asked = True
            if seen.error == "" and seen.end is not None:
                one.stopping, one.ready = seen.ts, seen.end
                yield from _stopped(exchange, seen, found.name, places)
        elif seen.api == "StartFetcher":
            yield from _started(exchange, seen, found, one)
            if one.auto_commit:
                yield from _begun(exchange, seen, found.name, places)

    return see


def _stopped(
    exchange: Exchange, seen: DialectExchange, group: str, places: _Places
) -> Iterator[Finding]:
    """A consumer says where it was: others may have begun before that meanwhile."""
    for row in (seen.response or {}).get("offset_info", ()):
        key = group, row["topic"], row["partition"]
        place = places.get(key, _Place(row["offset"]))
        if place.start is not None:
            other, offset, before = place.start
            if other != seen.client and offset < row["offset"]:
                place = place._replace(start=None)
                yield Finding(
                    "warning",
                    f"group {group}: {row['topic']} {row['partition']} was started from offset "
                    f"{offset} at {other}, though {seen.client} was at {row['offset']}",
                    "The records in between are fetched twice: stop a consumer before its partitions "
                    "are another's. A new coordinator does not know who is still to register.",
                    (before, evidence(exchange)),
                )
        places[key] = place._replace(offset=max(place.offset, row["offset"]))


def _begun(
    exchange: Exchange, seen: DialectExchange, group: str, places: _Places
) -> Iterator[Finding]:
    """A consumer is told where to begin: where the group was."""
    for row in seen.request["offset_info"]:
        key, offset, shown = (
            (group, row["topic"], row["partition"]),
            row["offset"],
            evidence(exchange),
        )
        place = places.get(key, _Place(offset))
        behind = offset < place.offset
        if behind:
            yield Finding(
                "warning",
                f"group {group}: {row['topic']} {row['partition']} was started from offset "
                f"{offset}, but the group had been at {place.offset}",
                "The records in between are fetched twice: store the offsets that stop-fetcher "
                "returns.",
                (shown,),
            )
        start = None if behind else (seen.client, offset, shown)
        places[key] = _Place(max(place.offset, offset), start)


def _started(
    exchange: Exchange, seen: DialectExchange, group: _Group, one: _Consumer
) -> Iterator[Finding]:
    shown = evidence(exchange)
    if not one.asked and one.losses == exchange.losses:
        yield Finding(
            "error",
            f"group {group.name}: {one.name} was started, though it had not been asked where it was",
            "Send stop-fetcher to every consumer of the group before you start any, also to one that "
            "registers meanwhile: else it begins again from what is stored.",
            (one.evidence, shown),
        )
    one.started, one.evidence = seen.ts, shown
    one.owns = frozenset((row["topic"], row["partition"]) for row in seen.request["offset_info"])
    group.consumers[seen.connection] = one
    for other in group.consumers.values():
        if other is one or other.started is None:
            continue
        if other.runs(one, seen.ts):
            other.passed = other.passed or (seen.ts, one.name, one.evidence)
        elif other.started > one.ready and other.started > other.ready:  # of the same rebalance
            for topic, partition in sorted(one.owns & other.owns):
                yield Finding(
                    "error",
                    f"group {group.name}: {other.name} and {one.name} both own {topic} {partition}",
                    "A rebalance must give each partition one owner.",
                    (other.evidence, shown),
                )


CHECK: Final = Check(
    "central_rebalances", NoSettings(), central_rebalances,
    "fetchers started while others run, or unasked where they were; partitions with two owners, or begun "
    "behind where the group was",
    "the dialect central-coordination; groups of which all RegisterConsumer requests were captured",
)  # fmt: skip
