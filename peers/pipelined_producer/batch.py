"""From events to a ProducerRequest: serialised, compressed and collated, in the send thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from peers.leaders import Place, by_topic
from peers.pipelined_producer.event import Event, Outcome
from peers.pipelined_producer.queues import Batches
from peers.pipelined_producer.settings import Settings
from specs.records import Record, build

Serializer = Callable[[Any], bytes | None]
"""Makes bytes of a key or a value; what it raises is the event's problem."""

MAGIC_1: Final = 2
MAGIC_2: Final = 3
"""Versions of Produce from which batches of that magic are sent (KIP-32, KIP-98)."""


class Serializers(NamedTuple):
    """One for keys, one for values."""

    key: Serializer
    value: Serializer


def plain(value: Any) -> bytes | None:
    """Bytes as they are and str as UTF-8. Raises TypeError for anything else.

    >>> plain("ä"), plain(b"x"), plain(None)
    (b'\\xc3\\xa4', b'x', None)
    """
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"{type(value).__name__} is neither bytes nor str: give a serializer")


PLAIN: Final = Serializers(plain, plain)
"""For keys and values that are bytes or text."""


def magic_for(version: int) -> int:
    """The magic that goes with a version of Produce.

    >>> [magic_for(version) for version in (0, 1, 2, 3, 12)]
    [0, 0, 1, 2, 2]
    """
    return 2 if version >= MAGIC_2 else 1 if version >= MAGIC_1 else 0


def collate(
    batches: Batches, version: int, settings: Settings, serializers: Serializers
) -> tuple[dict[str, Any], Batches, list[Outcome]]:
    """The body of a request; the events that are in it; what became of those that can't be."""
    magic = magic_for(version)
    sent: Batches = {}
    sets: dict[Place, bytes] = {}
    failed: list[Outcome] = []
    for place, events in batches.items():
        records: list[Record] = []
        fit: list[Event] = []
        for event in events:
            try:
                key, value = serializers.key(event.key), serializers.value(event.value)
            except Exception as problem:  # noqa: BLE001 - whatever somebody's serializer raises
                failed.append(Outcome(event, problem=f"not serialised: {problem}"))
                continue
            stamp = event.timestamp if magic else -1
            records.append(Record(len(records), stamp, key, value))
            fit.append(event)
        try:
            if records:
                sets[place] = build(records, magic=magic, compression=settings.compression)
                sent[place] = fit
        except ValueError as problem:  # Unfit: not bytes, or a codec that this magic has not
            failed += (Outcome(event, problem=f"not serialised: {problem}") for event in fit)
    topics = [
        {"name": topic, "partition_data": [{"index": i, "records": data} for i, data in parts]}
        for topic, parts in by_topic(sets.items())
    ]
    body = {"acks": settings.acks, "timeout_ms": settings.request_timeout_ms, "topic_data": topics}
    return body, sent, failed
