"""The check `uncommitted`: brokers lack an offset that the client reported as committed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.history import History, OffsetCommitted

SOON: Final = 10.0
"""Seconds until a group's coordinator learns that a transaction with its offsets was committed."""

Offsets = dict[tuple[str, int], int]
"""The furthest offsets of a group, by topic and partition."""


def uncommitted(
    reported: History, settings: Mapping[str, Any], soon: float = SOON
) -> list[Finding]:
    """Return findings about reported commits that the brokers lack.

    Args:
        reported: the client's history.
        settings: librdkafka's settings for the brokers.
        soon: seconds that the brokers may take.

    Raises:
        OSError: The brokers don't respond.
    """
    from confluent_kafka import KafkaException

    try:
        return [
            Finding(
                kind="uncommitted",
                text=f"{group}: offset {expected} of {topic}[{partition}] was committed, brokers have {has}",
            )
            for group, offsets in _reported_offsets(reported).items()
            for (topic, partition), expected, has in _lower_offsets(group, offsets, settings, soon)
        ]
    except KafkaException as problem:
        raise OSError(f"brokers do not tell a group's offsets: {problem}") from None


def _reported_offsets(reported: History) -> dict[str, Offsets]:
    """Return the furthest reported offsets by group."""
    known: dict[str, Offsets] = {}
    for event in reported.events:
        if isinstance(event, OffsetCommitted):
            offsets = known.setdefault(event.group, {})
            partition = event.topic, event.partition
            offsets[partition] = max(event.offset, offsets.get(partition, 0))
    return known


def _lower_offsets(
    group: str, offsets: Offsets, settings: Mapping[str, Any], soon: float
) -> list[tuple[tuple[str, int], int, int]]:
    """Return partitions with a lower offset in the brokers: partition, reported offset, brokers' offset.

    The brokers' offset is -1001 if there is none.
    """
    from confluent_kafka import Consumer, TopicPartition

    consumer_settings = {
        **settings,
        "group.id": group,
        "client.id": "barnabas-reads",
        "log_level": 0,
    }
    consumer = Consumer(consumer_settings)
    deadline = time.monotonic() + soon
    try:
        while True:
            committed = consumer.committed([TopicPartition(*at) for at in offsets], max(soon, 1.0))
            stored = {
                (position.topic, position.partition): position.offset for position in committed
            }
            lower = [(at, end, stored[at]) for at, end in offsets.items() if stored[at] < end]
            if not lower or time.monotonic() > deadline:
                return lower
            time.sleep(0.1)
    finally:
        consumer.close()
