"""`uncommitted`: brokers lack an offset of which the client said that it is committed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.history import History, OffsetCommitted

SOON: Final = 10.0
"""Seconds in which a group's coordinator hears that a transaction with its offsets was committed."""

Offsets = dict[tuple[str, int], int]
"""Of a group: by topic and partition, the furthest."""


def uncommitted(told: History, settings: Mapping[str, Any], soon: float = SOON) -> list[Finding]:
    """Hold what a client knows to be committed against what brokers have.

    settings: with which librdkafka reaches the brokers. soon: seconds. Raises OSError if they don't answer.
    """
    from confluent_kafka import KafkaException

    try:
        return [
            Finding(
                kind="uncommitted",
                text=f"{group}: offset {wanted} of {topic}[{partition}] was committed, brokers have {has}",
            )
            for group, offsets in _known(told).items()
            for (topic, partition), wanted, has in _behind(group, offsets, settings, soon)
        ]
    except KafkaException as problem:
        raise OSError(f"brokers do not tell a group's offsets: {problem}") from None


def _known(told: History) -> dict[str, Offsets]:
    """What was committed, by group."""
    known: dict[str, Offsets] = {}
    for one in told.events:
        if isinstance(one, OffsetCommitted):
            offsets = known.setdefault(one.group, {})
            at = one.topic, one.partition
            offsets[at] = max(one.offset, offsets.get(at, 0))
    return known


def _behind(
    group: str, offsets: Offsets, settings: Mapping[str, Any], soon: float
) -> list[tuple[tuple[str, int], int, int]]:
    """Places of which brokers have less, with what was committed and what they have (-1001: nothing)."""
    from confluent_kafka import Consumer, TopicPartition

    own = {**settings, "group.id": group, "client.id": "barnabas-reads", "log_level": 0}
    consumer = Consumer(own)
    until = time.monotonic() + soon
    try:
        while True:
            told = consumer.committed([TopicPartition(*at) for at in offsets], max(soon, 1.0))
            has = {(one.topic, one.partition): one.offset for one in told}
            behind = [(at, end, has[at]) for at, end in offsets.items() if has[at] < end]
            if not behind or time.monotonic() > until:
                return behind
            time.sleep(0.1)
    finally:
        consumer.close()
