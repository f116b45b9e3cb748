"""`central_rebalances`: a coordinator starts fetchers when all of the group have stopped theirs.

That is what `CENTRAL_GROUP` of `barnabas.specs.drafts.central_states` has between STOPPING and STARTING, seen
from outside. A consumer that was given up looks like one that was passed over, until the coordinator asks it
something more: so that is waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.drafts.reading import central_step
from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory, weight
from barnabas.captures.kafka.draft_conversations import DraftExchange
from barnabas.captures.kafka.exchange import Exchange

Partition = tuple[str, str]

GROUPS: Final = 100
"""Groups that are remembered; it is a draft."""

MOST: Final = 1000
"""Consumers of a group."""

SHARE: Final = 1 << 20
"""Bytes of a group's consumers, and of its offsets, nearly."""


@dataclass(slots=True)
class _Consumer:
    """Of one connection. Times are ns since the epoch."""

    name: str
    ready: int
    """When it had last stopped; before that, when it had registered."""
    started: int | None = None
    """When it was last told to start."""
    owns: frozenset[Partition] = frozenset()
    evidence: Evidence | None = None
    passed: tuple[int, str, Evidence] | None = None
    """When another was started though this one ran, which one, and where that stands."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return weight((self.name, self.owns))

    def runs(self, other: _Consumer, ts: int) -> bool:
        """Whether its fetchers, started before another had stopped, run on at a time (ns)."""
        began = self.started
        return began is not None and began < other.ready and not began < self.ready < ts


@dataclass(slots=True)
class _Group:
    name: str
    consumers: Memory[int, _Consumer] = field(default_factory=lambda: Memory(MOST, SHARE))
    """By connection."""
    told: Memory[Partition, int] = field(default_factory=lambda: Memory(bytes_=SHARE))
    """The farthest offset that answers to stop-fetcher had."""


def central_rebalances(_: NoSettings) -> See:
    """Fetchers started while others of the group run, partitions with two owners, offsets that go back."""
    groups: Memory[tuple[str, str], _Group] = Memory(GROUPS)
    by_connection: Memory[int, tuple[str, str]] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        seen = central_step(exchange)
        if seen is None:
            return
        if seen.api == "RegisterConsumer":
            if seen.error == "" and seen.end is not None:
                name = seen.request["group_id"]
                key = exchange.server_address, name
                group = groups.setdefault(key, _Group(name))
                by_connection[seen.connection] = key
                group.consumers[seen.connection] = _Consumer(seen.client, seen.end)
            return
        of = by_connection.get(seen.connection)
        found = None if of is None else groups.get(of)
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
        if seen.api == "StopFetcher" and seen.error == "" and seen.end is not None:
            one.ready = seen.end
            for row in (seen.response or {}).get("offset_info", ()):
                place = row["topic"], row["partition"]
                found.told[place] = max(found.told.get(place, row["offset"]), row["offset"])
        elif seen.api == "StartFetcher":
            yield from _started(exchange, seen, found, one)

    return see


def _started(
    exchange: Exchange, seen: DraftExchange, group: _Group, one: _Consumer
) -> Iterator[Finding]:
    rows = seen.request["offset_info"]
    one.started, one.evidence = seen.ts, evidence(exchange)
    one.owns = frozenset((row["topic"], row["partition"]) for row in rows)
    group.consumers[seen.connection] = one
    for other in group.consumers.values():
        if other is one or other.started is None or other.evidence is None:
            continue
        if other.runs(one, seen.ts):
            other.passed = other.passed or (seen.ts, one.name, one.evidence)
        elif other.started > one.ready and other.started > other.ready:  # of the same rebalance
            for topic, partition in sorted(one.owns & other.owns):
                yield Finding(
                    "error",
                    f"group {group.name}: {other.name} and {one.name} both own {topic} {partition}",
                    "A rebalance must give each partition one owner.",
                    (other.evidence, one.evidence),
                )
    for row in rows:
        told = group.told.get((row["topic"], row["partition"]))
        if told is not None and row["offset"] < told:
            yield Finding(
                "warning",
                f"group {group.name}: {row['topic']} {row['partition']} was started from offset "
                f"{row['offset']}, but had been stopped at {told}",
                "The records in between are fetched twice: store the offsets that stop-fetcher "
                "returns.",
                (one.evidence,),
            )


CHECK: Final = Check(
    "central_rebalances", NoSettings(), central_rebalances,
    "fetchers started while others run, partitions with two owners, offsets that go back",
    "the draft central-coordination; groups of which all RegisterConsumer requests were captured",
)  # fmt: skip
