"""confluent-kafka, that is librdkafka."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic, ResourceType

from tests.compat.clients.common import (
    GROWN,
    MADE,
    PARTITIONS,
    PATIENCE,
    RECORDS,
    SELDOM,
    SLOW,
    Asked,
    Record,
    administer,
    by_partition,
    eventually,
    main,
    sent,
    settled,
    shared,
)


def _settings(asked: Asked, **more: Any) -> dict[str, Any]:
    settings = {"bootstrap.servers": asked.bootstrap, "log_level": 0, "client.id": "compat", **more}
    if (0,) < asked.version < (0, 10):  # no ApiVersions: it is told what it speaks to
        number = ".".join(map(str, asked.version[:3]))
        settings |= {"api.version.request": False, "broker.version.fallback": number}
    return settings


def _send(asked: Asked, topic: str, label: str, **settings: Any) -> list[tuple[int, int]]:
    offsets: list[tuple[int, int]] = []
    problems = []

    def acknowledged(problem: Any, message: Any) -> None:
        if problem is None:
            offsets.append((message.partition(), message.offset()))
        else:
            problems.append(problem)

    producer = Producer(_settings(asked, **settings))
    known = producer.list_topics(topic, timeout=PATIENCE)
    asked.addresses.update(f"{one.host}:{one.port}" for one in known.brokers.values())
    _await_topic(producer, topic)
    for partition, key, value in sent(label):
        producer.produce(topic, value, key, partition, on_delivery=acknowledged)
    if producer.flush(PATIENCE) or problems:
        raise RuntimeError(f"not all was acknowledged: {problems[:1]}")
    return offsets


def _await_topic(client: Any, topic: str) -> None:
    """Until a topic that was named for the first time has its partitions."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        known = client.list_topics(topic, timeout=PATIENCE).topics[topic]
        if known.partitions and not known.error:
            return
        time.sleep(0.1)
    raise TimeoutError(f"no topic: {known.error}")


def produce(asked: Asked) -> dict[str, Any]:
    """Offsets by partition, of each compression."""
    return {
        name: by_partition(
            _send(asked, f"{asked.name}-{name}", "p", **{"compression.type": name, "acks": "all"})
        )
        for name in asked.compressions()
    }


def _consumer(asked: Asked, group: str, **more: Any) -> Consumer:
    return Consumer(
        _settings(
            asked,
            **{
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                # the embedded cluster ends a rebalance 1 s before a session would time out
                "session.timeout.ms": 1200 if asked.embedded else 6000,
                "heartbeat.interval.ms": 300,
                "partition.assignment.strategy": "range",
                "fetch.wait.max.ms": 100,
                **more,
            },
        )
    )


def _read(consumer: Consumer, wanted: int) -> list[Record]:
    found: list[Record] = []
    deadline = time.monotonic() + PATIENCE
    while len(found) < wanted:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(found)} of {wanted} records in {PATIENCE:g} s")
        for one in consumer.consume(100, timeout=0.1):
            if not one.error():
                key = None if one.key() is None else one.key().decode()
                found.append((one.partition(), one.offset(), key, one.value().decode()))
    return sorted(found)


def consume_in_group(asked: Asked) -> dict[str, Any]:
    """What a group reads, and what the next member reads after the commit."""
    topic = asked.name
    found: dict[str, Any] = {}
    for label in ("first", "second"):
        _send(asked, topic, label)
        consumer = _consumer(asked, asked.name)
        try:
            if asked.groupless:  # assigned by hand, the group's offsets are used nevertheless
                consumer.assign([TopicPartition(topic, number) for number in range(PARTITIONS)])
            else:
                consumer.subscribe([topic])
            found[label] = _read(consumer, RECORDS)
            consumer.commit(asynchronous=False)
        finally:
            consumer.close()
    if asked.consumer_protocol:
        found["seldom"] = _commit_seldom(asked)
    return found


def _commit_seldom(asked: Asked) -> list[int]:
    """The least offset of each commit of a member of KIP-848."""
    own: dict[str, Any] = {"group.id": f"{asked.name}-seldom", "group.protocol": "consumer"}
    own |= {"auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(_settings(asked, **own))
    found = []
    try:
        consumer.subscribe([asked.name])
        _read(consumer, 2 * RECORDS)
        for _ in range(SELDOM):
            due = time.monotonic() + SLOW
            while time.monotonic() < due:
                consumer.poll(0.1)
            positions = consumer.position(consumer.assignment())
            taken = consumer.commit(offsets=positions, asynchronous=False)
            found.append(min(one.offset for one in taken or ()))
    finally:
        consumer.close()
    return found


class _Member:
    def __init__(self, asked: Asked) -> None:
        self._consumer = _consumer(asked, asked.name)
        self._consumer.subscribe([asked.name])

    def poll(self) -> None:
        self._consumer.poll(0.1)

    def owned(self) -> list[int]:
        return [one.partition for one in self._consumer.assignment()]

    def close(self) -> None:
        self._consumer.close()


def rebalance(asked: Asked) -> dict[str, Any]:
    """Who owns what."""
    _send(asked, asked.name, "r")
    return shared(lambda: _Member(asked))


def transact(asked: Asked) -> dict[str, Any]:
    """What is seen of a transaction that was aborted, and of one that was committed with offsets."""
    topic = asked.name
    _send(asked, topic, "plain")
    source = _consumer(asked, asked.name)
    producer = Producer(_settings(asked, **{"transactional.id": asked.name}))
    try:
        source.subscribe([topic])
        _read(source, RECORDS)
        producer.init_transactions(PATIENCE)
        for label in ("aborted", "committed"):
            producer.begin_transaction()
            for partition, key, value in sent(label):
                producer.produce(topic, value, key, partition)
            producer.flush(PATIENCE)
            if label == "aborted":
                producer.abort_transaction(PATIENCE)
            else:
                positions = source.position(source.assignment())
                producer.send_offsets_to_transaction(positions, source.consumer_group_metadata())
                producer.commit_transaction(PATIENCE)
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]

        def committed() -> dict[str, int]:
            found = source.committed(partitions, PATIENCE)
            return {str(one.partition): one.offset for one in found}

        # the group's coordinator learns a moment later that the transaction was committed
        offsets = eventually(committed, lambda found: min(found.values()) >= 0)
    finally:
        source.close()
    return {
        "offsets": offsets,
        "committed": _seen(asked, "read_committed", 2 * RECORDS),
        "uncommitted": _seen(asked, "read_uncommitted", 3 * RECORDS),
    }


def _seen(asked: Asked, isolation: str, wanted: int) -> list[Record]:
    consumer = _consumer(asked, f"{asked.name}-{isolation}", **{"isolation.level": isolation})
    try:
        consumer.subscribe([asked.name])
        return _read(consumer, wanted)
    finally:
        consumer.close()


def admin(asked: Asked) -> dict[str, Any]:
    """What admin calls give."""
    client = AdminClient(_settings(asked))
    topic = f"{asked.name}-made"
    nodes = client.list_topics(timeout=PATIENCE).brokers
    asked.addresses.update(f"{one.host}:{one.port}" for one in nodes.values())
    _send(asked, asked.name, "a")

    def done(futures: dict[Any, Any]) -> Any:
        return next(one.result(PATIENCE) for one in futures.values())

    def partitions() -> list[list[int]]:
        found = client.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
        return [[number, len(one.replicas)] for number, one in sorted(found.items())]

    def cluster() -> list[Any]:
        found = client.describe_cluster(request_timeout=PATIENCE).result(PATIENCE)
        asked.addresses.update(f"{one.host}:{one.port}" for one in found.nodes)
        return [len(found.nodes), found.controller is not None]

    def configs() -> str:
        wanted = ConfigResource(ResourceType.TOPIC, topic)
        return str(done(client.describe_configs([wanted]))["cleanup.policy"].value)

    def groups() -> bool:
        found = client.list_consumer_groups(request_timeout=PATIENCE).result(PATIENCE)
        return any(one.group_id == asked.name for one in found.valid)

    def described() -> list[Any]:
        found = done(client.describe_consumer_groups([asked.name], request_timeout=PATIENCE))
        asked.addresses.add(f"{found.coordinator.host}:{found.coordinator.port}")
        return [found.state.name, len(found.members)]

    def offsets() -> list[list[int]]:
        wanted = [ConsumerGroupTopicPartitions(asked.name)]
        found = done(client.list_consumer_group_offsets(wanted, request_timeout=PATIENCE))
        return sorted([one.partition, one.offset] for one in found.topic_partitions)

    def commit() -> None:
        consumer = _consumer(asked, asked.name)
        consumer.commit(offsets=[TopicPartition(asked.name, 0, 7)], asynchronous=False)
        consumer.close()

    wide = {"request_timeout": PATIENCE, "operation_timeout": PATIENCE}
    calls: dict[str, Callable[[], Any]] = {
        "nodes": lambda: len(nodes),
        "create": lambda: done(client.create_topics([NewTopic(topic, MADE, 1)], **wide)),
        "described": lambda: settled(partitions, MADE),
        "more": lambda: done(client.create_partitions([NewPartitions(topic, GROWN)], **wide)),
        "grown": lambda: settled(partitions, GROWN),
        "cluster": cluster,
        "configs": configs,
        "delete": lambda: done(client.delete_topics([topic], **wide)),
        "commit": commit,
        "groups": groups,
        "group": described,
        "offsets": offsets,
    }
    return administer(asked, calls)


if __name__ == "__main__":
    main(produce, consume_in_group, rebalance, transact, admin)
