"""Facts from all flows (connection numbers, names, brokers, losses), and exchanges completed with them.

A name is valid for the whole capture: a topic id never gets another name. So an exchange may show a name that
only a later message gives. The sequential reader, which reads once, shows the name from that message on.
"""

from __future__ import annotations

import bisect
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from barnabas.captures.kafka.context.memory import Memory
from barnabas.pipeline.reading.outcomes import Outcome, Position
from barnabas.pipeline.reading.plan import SectionGroup
from barnabas.pipeline.rows.columns import Column, arrow
from barnabas.specs.jsonform import uuid_text


@dataclass(slots=True)
class Facts:
    """The facts that `gather` collects. They can be pickled for tasks."""

    connections: dict[tuple[int, int], int] = field(default_factory=dict)
    """The numbers of connections, by group of sections and connection key."""
    losses: list[Position] = field(default_factory=list)
    """The positions at which data was found to be missing, in order."""
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    producers: dict[int, str] = field(default_factory=dict)
    """Transactional ids by producer id."""
    brokers: dict[str, int | None] = field(default_factory=dict)
    """Node ids by address; None: several nodes had the address."""
    forgotten: int = 0
    """The number of topics, producers and brokers that were dropped because there were too many."""


def gather(outcomes: Iterable[Outcome], section_groups: Sequence[SectionGroup]) -> Facts:
    """Return the facts from outcomes in any order."""
    facts = Facts()
    opened: dict[int, list[tuple[Position, int]]] = {}
    flows: dict[int, list[int]] = {}
    topics: Memory[uuid.UUID, str] = Memory()
    producers: Memory[int, str] = Memory()
    brokers: Memory[str, int | None] = Memory()
    clusters: set[str] = set()
    ambiguous = False
    for outcome in sorted(outcomes, key=lambda outcome: outcome.position):
        match outcome.kind:
            case "connection":
                opened.setdefault(outcome.section_group, []).append(
                    (outcome.position, outcome.connection_key)
                )
            case "flow":
                flows.setdefault(outcome.section_group, []).append(outcome.connection_key)
            case "loss":
                facts.losses.append(outcome.position)
            case "topic":
                topics[uuid.UUID(outcome.details["id"])] = outcome.details["name"]
            case "producer":
                producers[outcome.details["id"]] = outcome.details["name"]
            case "broker":
                address, node = outcome.details["address"], outcome.details["node"]
                if brokers.setdefault(address, node) != node:
                    brokers[address] = None
                ambiguous = ambiguous or outcome.details["several"]
                clusters |= {outcome.details["cluster"]} - {None}
    if ambiguous or len(clusters) > 1:
        brokers.clear()
    facts.topics, facts.producers, facts.brokers = dict(topics), dict(producers), dict(brokers)
    facts.forgotten = topics.forgotten + producers.forgotten + brokers.forgotten
    _number(facts, section_groups, opened, flows)
    return facts


def _number(
    facts: Facts,
    section_groups: Sequence[SectionGroup],
    opened: dict[int, list[tuple[Position, int]]],
    flows: dict[int, list[int]],
) -> None:
    """Assign numbers to connections.

    Numbers continue from one section to the next. In captures of other tools, connections are numbered in the
    order of detection. Connections of the proxy that have lost their number get numbers below zero, in the
    order of their beginning.
    """
    base = 0
    for number, section_group in enumerate(section_groups):
        highest = base
        ranks = {of: at for at, of in enumerate(sorted(flows.get(number, ())), 1)}
        for rank, (_, of) in enumerate(sorted(opened.get(number, ())), 1):
            if not section_group.ours:
                number_of_connection = base + rank
            elif of in ranks or -of in ranks:
                number_of_connection = -ranks.get(of, ranks.get(-of, 0))
            else:
                number_of_connection = of + base if of > 0 else of
            facts.connections[number, of] = number_of_connection
            highest = max(highest, number_of_connection)
        base = highest


class Completion:
    """Completes batches of exchanges of one capture; missing columns are not needed."""

    def __init__(self, facts: Facts, capture: str) -> None:
        self._facts = facts
        self._capture = capture
        self._names = {uuid_text(topic): name for topic, name in facts.topics.items()}

    def complete(self, batch: pa.RecordBatch, columns: tuple[Column, ...]) -> pa.RecordBatch:
        """Return rows with exactly these columns, from rows with the columns of outcomes.py."""
        schema = arrow(columns)
        arrays = [self._column(batch, field) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _column(self, batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
        match field.name:
            case "capture":
                return pa.array([self._capture] * len(batch), field.type)
            case "connection":
                numbers = self._facts.connections
                section_groups, keys = (
                    batch[name].to_pylist() for name in ("section_group", "connection_key")
                )
                connections = [numbers[key] for key in zip(section_groups, keys, strict=True)]
                return pa.array(connections, field.type)
            case "losses":
                return pa.array(self._losses(batch), field.type)
        column = batch[field.name]
        match field.name:
            case "broker":
                return self._brokers(batch, column)
            case "topics":
                return self._topics(column)
            case "partitions":
                return self._partitions(column)
            case "seen":
                return self._seen(column)
            case "transactional_id":
                return self._transactions(batch, column)
        return column

    def _losses(self, batch: pa.RecordBatch) -> list[int]:
        losses = self._facts.losses
        if not losses:
            return [0] * len(batch)
        positions = zip(*(batch[name].to_pylist() for name in Position._fields), strict=True)
        return [bisect.bisect_left(losses, position) for position in positions]

    def _brokers(self, batch: pa.RecordBatch, column: pa.Array) -> pa.Array:
        nodes = self._facts.brokers
        named, servers = batch["named_broker"], batch["server_address"]
        learnt = pa.array([nodes.get(address) for address in servers.to_pylist()], column.type)
        return pc.coalesce(named, learnt)

    def _topics(self, column: pa.Array) -> pa.Array:
        names = self._names
        if not names or not _has_known_id(column.flatten(), names):
            return column
        named: list[Any] = [
            None if topics is None else sorted({names.get(topic, topic) for topic in topics})
            for topics in column.to_pylist()
        ]
        return pa.array(named, column.type)

    def _partitions(self, column: pa.Array) -> pa.Array:
        names = self._names
        flat = column.flatten()
        topics = flat.field("topic")
        if not names or not _has_known_id(topics, names):
            return column
        coded = topics.dictionary_encode()
        renamed = pa.array([names.get(topic, topic) for topic in coded.dictionary.to_pylist()])
        fields = [flat.field(at) for at in range(flat.type.num_fields)]
        fields[flat.type.get_field_index("topic")] = renamed.take(coded.indices)
        inner = pa.StructArray.from_arrays(fields, fields=list(flat.type))
        sizes = pc.fill_null(pc.list_value_length(column), 0)
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(sizes)])
        return pa.ListArray.from_arrays(offsets, inner, column.type, mask=column.is_null())

    def _seen(self, column: pa.Array) -> pa.Array:
        if not self._names:
            return column
        fields = [column.field(at) for at in range(column.type.num_fields)]
        at = column.type.get_field_index("places")
        fields[at] = self._partitions(fields[at])
        return pa.StructArray.from_arrays(fields, fields=list(column.type), mask=column.is_null())

    def _transactions(self, batch: pa.RecordBatch, column: pa.Array) -> pa.Array:
        names = self._facts.producers
        if not names:
            return column
        producers = batch["producer_id"].to_pylist()
        learnt = pa.array([names.get(producer) for producer in producers], column.type)
        return pc.coalesce(column, learnt)


def _has_known_id(texts: pa.Array, names: dict[str, str]) -> bool:
    """Return whether the name of an id among the texts is known."""
    return not names.keys().isdisjoint(pc.unique(texts).to_pylist())
