"""Workloads of the Java client, through JPype: those that read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype
from java_producing import CLIENTS, ERRORS, STRING, close, known, poll, properties
from work import Missing, NotOfferedError, Reader, Work

_COMMON = jpype.JPackage("org.apache.kafka.common")
_OPTIONS = CLIENTS.consumer.ConsumerConfig
_UNCOMMITTED = (
    *known(ERRORS, "RetriableException", "RebalanceInProgressException"),
    *known(CLIENTS.consumer, "CommitFailedException"),
)


def assign(work: Work) -> int:
    """Read all records of partitions that it chose itself."""
    missing, reader = Missing(work, stays=False), Reader(work, group=False)
    consumer = CLIENTS.consumer.KafkaConsumer(_settings(work, reader))
    places = [_COMMON.TopicPartition(work.topic, number) for number in range(work.partitions)]
    consumer.assign(jpype.java.util.Arrays.asList(places))
    for place in places:
        reader.got(work.topic, int(place.partition()))
    try:
        while missing.goes_on():
            read(consumer, reader, missing.found)
    finally:
        close(consumer)
    return work.records


def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""
    missing = Missing(work)
    _member(work, missing, "reader")
    return work.records


def cooperative(work: Work) -> int:
    """The same by two members, who keep what stays theirs in a rebalance."""
    if not hasattr(CLIENTS.consumer, "CooperativeStickyAssignor"):
        raise NotOfferedError
    strategy = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    return _two_members(work, partition_assignment_strategy=strategy)


def consumer_protocol(work: Work) -> int:
    """The same in a group of the protocol of KIP-848."""
    if not hasattr(_OPTIONS, "GROUP_PROTOCOL_CONFIG"):
        raise NotOfferedError
    return _two_members(work, group_protocol="consumer")


def _two_members(work: Work, **own: Any) -> int:
    missing = Missing(work)
    missing.by_two(lambda name: _member(work, missing, name, **own))
    return work.records


def _member(work: Work, missing: Missing, name: str, **own: Any) -> None:
    reader = Reader(work, name)
    consumer = subscribed(work, reader, **own)
    try:
        while missing.goes_on():
            ends = read(consumer, reader, missing.found)
            if not ends:
                continue
            try:
                consumer.commitSync()
            except _UNCOMMITTED:
                continue  # it was not committed: it may come again
            for (topic, partition), offset in ends.items():
                work.committed(topic, partition, offset)
    finally:
        close(consumer)


def subscribed(work: Work, reader: Reader, **own: Any) -> Any:
    """A consumer that has joined the work's group."""

    @jpype.JImplements("org.apache.kafka.clients.consumer.ConsumerRebalanceListener")
    class Listener:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsRevoked(self, places: Any) -> None:  # noqa: N802 (Java's name)
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsLost(self, places: Any) -> None:  # noqa: N802 (Java's name)
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsAssigned(self, places: Any) -> None:  # noqa: N802 (Java's name)
            for place in places:
                reader.got(str(place.topic()), int(place.partition()))

    consumer = CLIENTS.consumer.KafkaConsumer(_settings(work, reader, group_id=work.group, **own))
    consumer.subscribe(jpype.java.util.Arrays.asList(work.topic), Listener())
    return consumer


def read(
    consumer: Any, reader: Reader, found: Callable[[bytes], None]
) -> dict[tuple[str, int], int]:
    """Poll once: topic and partition of what came, and the offset behind it."""
    ends = {}
    for one in poll(consumer):
        at = str(one.topic()), int(one.partition()), int(one.offset())
        value = str(one.value()).encode()
        reader.consumed(*at, value)
        found(value)
        ends[at[:2]] = at[2] + 1
    return ends


def _settings(work: Work, reader: Reader, **own: Any) -> Any:
    return properties(
        work,
        client_id=reader.name,
        **_CODED,
        auto_offset_reset="earliest",
        enable_auto_commit="false",
        max_poll_records=work.at_once,
        **own,
    )


_CODED = {
    "key_deserializer": f"{STRING}Deserializer",
    "value_deserializer": f"{STRING}Deserializer",
}


def share_group(work: Work) -> int:
    """Read all records in a share group, which acknowledges each batch."""
    if not hasattr(CLIENTS.consumer, "KafkaShareConsumer"):
        raise NotOfferedError
    missing, reader = Missing(work), Reader(work, share=True)
    about = {"client_id": reader.name, "group_id": work.group, **_CODED}
    consumer = CLIENTS.consumer.KafkaShareConsumer(properties(work, **about))
    consumer.subscribe(jpype.java.util.Arrays.asList(work.topic))
    try:
        while missing.goes_on():
            found = [
                (
                    str(one.topic()),
                    int(one.partition()),
                    int(one.offset()),
                    str(one.value()).encode(),
                )
                for one in poll(consumer)
            ]
            for one in found:
                reader.consumed(*one)
                missing.found(one[3])
            told = {
                (str(each.getKey().topic()), int(each.getKey().partition()))
                for each in consumer.commitSync().entrySet()
                if not each.getValue().isPresent()
            }
            for one in found:
                if one[:2] in told:
                    reader.accepted(*one[:3])
    finally:
        close(consumer)
    return work.records
