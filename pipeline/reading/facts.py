"""Facts from all shares (connection numbers, names, brokers, losses), and exchanges completed with them.

A name is valid for the whole capture: a topic id never gets another name. So an exchange may show a name that
only a later message gives. The sequential reader, which reads once, shows the name from that message on.
"""

from __future__ import annotations

import bisect
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from barnabas.captures.kafka.context.memory import Memory
from barnabas.pipeline.reading.capture_facts import unread_faults
from barnabas.pipeline.reading.outcomes import Outcome, Position
from barnabas.pipeline.rows.columns import Column, arrow
from barnabas.specs.jsonform import uuid_text


@dataclass(slots=True)
class Facts:
    """The facts that `gather` collects. They can be pickled for tasks."""

    sections: list[bool] = field(default_factory=list)
    """For each section of the capture, whether barnabas wrote it."""
    packets: int = 0
    notes: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Metadata of the proxy's captures, and remarks: time (ns), and content."""
    faults: list[dict[str, Any]] = field(default_factory=list)
    """Parts of files that could not be read, and other conversations: values of the table `errors`."""
    connections: dict[tuple[int, int], int] = field(default_factory=dict)
    """The numbers of connections, by section and connection key."""
    losses: list[Position] = field(default_factory=list)
    """The positions at which data was found to be missing, in order."""
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    producers: dict[int, str] = field(default_factory=dict)
    """Transactional ids by producer id."""
    brokers: dict[str, int | None] = field(default_factory=dict)
    """Node ids by address; None: several nodes had the address."""


@dataclass(slots=True)
class _Gathering:
    """Outcomes of all shares so far."""

    opened: dict[int, list[tuple[Position, int]]] = field(default_factory=dict)
    """The connections by section."""
    flows: dict[int, list[int]] = field(default_factory=dict)
    topics: Memory[uuid.UUID, str] = field(default_factory=Memory)
    producers: Memory[int, str] = field(default_factory=Memory)
    brokers: Memory[str, int | None] = field(default_factory=Memory)
    clusters: set[str] = field(default_factory=set)
    ambiguous: bool = False
    forgotten: int = 0
    left_out: Counter[tuple[int, str]] = field(default_factory=Counter)
    without_keys: set[str] = field(default_factory=set)
    read_in_part: set[str] = field(default_factory=set)


def gather(outcomes: Iterable[Outcome]) -> Facts:
    """Return the facts from the outcomes of all shares, in any order."""
    facts, so_far = Facts(), _Gathering()
    for outcome in sorted(outcomes, key=lambda outcome: outcome.position):
        _add(outcome, facts, so_far)
    if so_far.ambiguous or len(so_far.clusters) > 1:
        so_far.brokers.clear()
    facts.topics, facts.producers = dict(so_far.topics), dict(so_far.producers)
    facts.brokers = dict(so_far.brokers)
    for memory in (so_far.topics, so_far.producers, so_far.brokers):
        so_far.forgotten += memory.forgotten
    facts.faults += unread_faults(
        so_far.left_out, so_far.without_keys, so_far.read_in_part, so_far.forgotten
    )
    _number(facts, so_far.opened, so_far.flows)
    return facts


def _add(outcome: Outcome, facts: Facts, so_far: _Gathering) -> None:
    details = outcome.details
    match outcome.kind:
        case "connection":
            opened = outcome.position, outcome.connection_key
            so_far.opened.setdefault(outcome.section, []).append(opened)
        case "flow":
            so_far.flows.setdefault(outcome.section, []).append(outcome.connection_key)
        case "loss":
            facts.losses.append(outcome.position)
        case "forgotten":
            so_far.forgotten += details["count"]
        case "unread":
            for port, protocol, count in details["left_out"]:
                so_far.left_out[port, protocol] += count
            so_far.without_keys |= set(details["without_keys"])
            so_far.read_in_part |= set(details["read_in_part"])
        case "capture":
            facts.sections, facts.packets = details["sections"], details["packets"]
            facts.notes = [(ts_ns, content) for ts_ns, content in details["notes"]]
            facts.faults = list(details["faults"])
        case _:
            _add_name(outcome.kind, details, so_far)


def _add_name(kind: str, details: dict[str, Any], so_far: _Gathering) -> None:
    match kind:
        case "topic":
            so_far.topics[uuid.UUID(details["id"])] = details["name"]
        case "producer":
            so_far.producers[details["id"]] = details["name"]
        case "broker":
            address, node = details["address"], details["node"]
            if so_far.brokers.setdefault(address, node) != node:
                so_far.brokers[address] = None
            so_far.ambiguous = so_far.ambiguous or details["several"]
            so_far.clusters |= {details["cluster"]} - {None}


def _number(
    facts: Facts,
    opened: dict[int, list[tuple[Position, int]]],
    flows: dict[int, list[int]],
) -> None:
    """Assign numbers to connections.

    Numbers continue from one section to the next. In captures of other tools, connections are numbered in the
    order of detection. Connections of the proxy that have lost their number get numbers below zero, in the
    order of their beginning.
    """
    base = 0
    for section, ours in enumerate(facts.sections):
        highest = base
        ranks = {flow: at for at, flow in enumerate(sorted(flows.get(section, ())), 1)}
        for rank, (_, key) in enumerate(sorted(opened.get(section, ())), 1):
            if not ours:
                number = base + rank
            elif key in ranks or -key in ranks:
                number = -ranks.get(key, ranks.get(-key, 0))
            else:
                number = key + base if key > 0 else key
            facts.connections[section, key] = number
            highest = max(highest, number)
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
                sections, keys = (batch[name].to_pylist() for name in ("section", "connection_key"))
                connections = [numbers[key] for key in zip(sections, keys, strict=True)]
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
