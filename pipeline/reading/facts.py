"""Facts that complete exchanges, gathered from all flows.

Names are known for all of a capture wherever in it they were learnt: the id of a topic never gets another
name, so an exchange may be told the name that only a later one says. The pure reader, which reads once,
knows it from there on.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from barnabas.captures.kafka.context.memory import Memory
from barnabas.pipeline.reading.outcomes import Outcome, Place
from barnabas.pipeline.reading.plan import SectionGroup


@dataclass(slots=True)
class Facts:
    """What `gather` makes of all that is said. Tasks are given it: it can be pickled."""

    connections: dict[tuple[int, int], int] = field(default_factory=dict)
    """The numbers of connections by group of sections and by what they were called while they travelled."""
    losses: list[Place] = field(default_factory=list)
    """When something was found to be missing, in order."""
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    producers: dict[int, str] = field(default_factory=dict)
    """Transactional ids by producer id."""
    brokers: dict[str, int | None] = field(default_factory=dict)
    """Node ids by address; None: said of several."""
    forgotten: int = 0
    """How many of these three were forgotten because there were too many."""


def gather(said: Iterable[Outcome], section_groups: Sequence[SectionGroup]) -> Facts:
    """Facts out of rows in any order."""
    facts = Facts()
    opened: dict[int, list[tuple[Place, int]]] = {}
    flows: dict[int, list[int]] = {}
    topics: Memory[uuid.UUID, str] = Memory()
    producers: Memory[int, str] = Memory()
    brokers: Memory[str, int | None] = Memory()
    clusters: set[str] = set()
    several = False
    for one in sorted(said, key=lambda one: one.place):
        match one.kind:
            case "connection":
                opened.setdefault(one.section_group, []).append((one.place, one.of))
            case "flow":
                flows.setdefault(one.section_group, []).append(one.of)
            case "loss":
                facts.losses.append(one.place)
            case "topic":
                topics[uuid.UUID(one.said["id"])] = one.said["name"]
            case "producer":
                producers[one.said["id"]] = one.said["name"]
            case "broker":
                address, node = one.said["address"], one.said["node"]
                if brokers.setdefault(address, node) != node:
                    brokers[address] = None
                several = several or one.said["several"]
                clusters |= {one.said["cluster"]} - {None}
    if several or len(clusters) > 1:
        brokers.clear()
    facts.topics, facts.producers, facts.brokers = dict(topics), dict(producers), dict(brokers)
    facts.forgotten = sum(one.forgotten for one in (topics, producers, brokers))
    _number(facts, section_groups, opened, flows)
    return facts


def _number(
    facts: Facts,
    section_groups: Sequence[SectionGroup],
    opened: dict[int, list[tuple[Place, int]]],
    flows: dict[int, list[int]],
) -> None:
    """Connections count on from one section to the next; those of others in the order in which they were
    recognised, and those of ours that have lost their number below zero, as they begin."""
    base = 0
    for number, section_group in enumerate(section_groups):
        highest = base
        begun = {of: at for at, of in enumerate(sorted(flows.get(number, ())), 1)}
        for rank, (_, of) in enumerate(sorted(opened.get(number, ())), 1):
            if not section_group.ours:
                found = base + rank
            elif of in begun or -of in begun:
                found = -begun.get(of, begun.get(-of, 0))
            else:
                found = of + base if of > 0 else of
            facts.connections[number, of] = found
            highest = max(highest, found)
        base = highest
