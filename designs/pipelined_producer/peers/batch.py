"""From events to a ProducerRequest: serialised, compressed and collated, in the send thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from barnabas.designs.leaders import Place, by_topic
from barnabas.designs.pipelined_producer.peers.event import Event, Outcome
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.serializing import (
    BATCH,
    PARTITION,
    Serializers,
    batch_room,
    record_size,
    request_room,
    too_large,
)
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.records import Record, build

MAGIC_1: Final = 2
MAGIC_2: Final = 3
"""Versions of Produce from which batches of that magic are sent (KIP-32, KIP-98)."""


class Collated(NamedTuple):
    """A request's body, the events in it, those for which it had no room, and those that can't be sent."""

    body: dict[str, Any]
    sent: Batches
    left: Batches
    failed: list[Outcome]


class _Batch(NamedTuple):
    events: list[Event]
    records: list[Record]
    size: int
    """Of the records."""
    left: list[Event]


def magic_for(version: int) -> int:
    """The magic that goes with a version of Produce.

    >>> [magic_for(version) for version in (0, 1, 2, 3, 12)]
    [0, 0, 1, 2, 2]
    """
    return 2 if version >= MAGIC_2 else 1 if version >= MAGIC_1 else 0


def collate(
    batches: Batches, version: int, settings: Settings, serializers: Serializers
) -> Collated:
    """Make a request of batches, as large as it may be. Something of them is sent or fails."""
    magic = magic_for(version)
    room = request_room(settings)
    found = Collated({}, {}, {}, [])
    sets: dict[Place, bytes] = {}
    for place, events in batches.items():
        own = batch_room(settings, place[0], room)
        batch = _batch(events, own, magic, settings, serializers, found.failed)
        if batch.left:
            found.left[place] = batch.left
        if not batch.events:
            continue
        try:
            sets[place] = build(batch.records, magic=magic, compression=settings.compression)
        except ValueError as problem:  # Unfit: not bytes, or a codec that this magic has not
            found.failed.extend(
                Outcome(event, problem=f"not serialised: {problem}") for event in batch.events
            )
            continue
        found.sent[place] = batch.events
        room -= PARTITION + len(place[0].encode()) + BATCH + batch.size
    topics = [
        {"name": topic, "partition_data": [{"index": i, "records": data} for i, data in parts]}
        for topic, parts in by_topic(sets.items())
    ]
    body = {"acks": settings.acks, "timeout_ms": settings.request_timeout_ms, "topic_data": topics}
    return found._replace(body=body)


def _batch(
    events: Sequence[Event],
    room: int,
    magic: int,
    settings: Settings,
    serializers: Serializers,
    failed: list[Outcome],
) -> _Batch:
    """Serialise as many events as there is room for, and one more."""
    records: list[Record] = []
    fit: list[Event] = []
    size = 0
    for number, event in enumerate(events):
        try:
            key, value = event.serialized or serializers.serialize(event.key, event.value)
            own = record_size(key, value)
        except Exception as problem:  # noqa: BLE001 - whatever somebody's serializer raises
            failed.append(Outcome(event, problem=f"not serialised: {problem}"))
            continue
        if (says := too_large(own, settings, event.topic)) is not None:
            failed.append(Outcome(event, problem=says))
            continue
        if size + own > room:
            return _Batch(fit, records, size, list(events[number:]))
        size += own
        stamp = event.timestamp if magic else -1
        records.append(Record(len(records), stamp, key, value))
        fit.append(event)
    return _Batch(fit, records, size, [])
