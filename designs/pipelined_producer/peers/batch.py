"""A Produce request from events: serialised, compressed and collated, in the send thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from barnabas.designs.leaders import TopicPartition
from barnabas.designs.pipelined_producer.peers import serializing
from barnabas.designs.pipelined_producer.peers.event import Event, Outcome
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.protocol_guide.client_0_8.requests import produce_bytes
from barnabas.specs.records import Record, build


class Collated(NamedTuple):
    """A request's body, its events, the events without room, and those that can't be sent."""

    body: dict[str, Any]
    sent: Batches
    unsent: Batches
    failed: list[Outcome]


def magic_for(version: int) -> int:
    """Return the magic of batches in a version of Produce (KIP-32, KIP-98).

    >>> [magic_for(version) for version in (0, 1, 2, 3, 12)]
    [0, 0, 1, 2, 2]
    """
    return 2 if version >= 3 else 1 if version >= 2 else 0


def collate(
    batches: Batches, version: int, settings: Settings, serializers: serializing.Serializers
) -> Collated:
    """Make a request of batches, up to its limit. At least one event is sent or fails."""
    magic = magic_for(version)
    request_room = serializing.request_room(settings)
    sent, unsent, sets = Batches(), Batches(), dict[TopicPartition, bytes]()
    failed: list[Outcome] = []
    for partition, waiting in batches.items():
        room = serializing.batch_room(settings, partition[0], request_room)
        records, events, rest = _fill(waiting, room, magic, settings, serializers, failed)
        if rest:
            unsent[partition] = rest
        if not events:
            continue
        try:
            sets[partition] = build(records, magic=magic, compression=settings.compression)
        except ValueError as problem:  # Unfit: not bytes, or a codec that this magic has not
            failed += (Outcome(event, problem=f"not serialised: {problem}") for event in events)
            continue
        sent[partition] = events
        size = sum(serializing.record_size(record.key, record.value) for record in records)
        around = serializing.PARTITION + len(partition[0].encode()) + serializing.BATCH
        request_room -= around + size
    body = produce_bytes(sets, settings.acks, settings.request_timeout_ms)
    return Collated(body, sent, unsent, failed)


def _fill(
    events: Sequence[Event],
    room: int,
    magic: int,
    settings: Settings,
    serializers: serializing.Serializers,
    failed: list[Outcome],
) -> tuple[list[Record], list[Event], list[Event]]:
    """Serialise events until one has no room; return records, their events, and the rest."""
    records: list[Record] = []
    fitting: list[Event] = []
    for number, event in enumerate(events):
        try:
            key, value = event.serialized or serializers.serialize(event.key, event.value)
            size = serializing.record_size(key, value)
            problem = serializing.too_large(size, settings, event.topic)
        except Exception as failure:  # noqa: BLE001 - whatever somebody's serializer raises
            problem = f"not serialised: {failure}"
        if problem is not None:
            failed.append(Outcome(event, problem=problem))
            continue
        if size > room:
            return records, fitting, list(events[number:])
        room -= size
        timestamp = event.timestamp if magic else -1
        records.append(Record(len(records), timestamp, key, value))
        fitting.append(event)
    return records, fitting, []
