"""kafka-python."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import RebalanceInProgressError

from tests.compat.clients.common import (
    GROWN,
    MADE,
    PARTITIONS,
    PATIENCE,
    RECORDS,
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
    settings = {"bootstrap_servers": asked.bootstrap, "client_id": "compat", **more}
    if asked.embedded:  # its answer to an ApiVersions that is too new is not Kafka's
        settings["api_version"] = (0, 11)
    elif asked.version < (0, 10):  # no ApiVersions: it is told what it speaks to
        settings["api_version"] = asked.version[:3] if asked.version < (0, 9) else (0, 9)
    return settings


def _look(asked: Asked, client: Any) -> None:
    """What metadata told a producer or a consumer."""
    known = client._metadata if isinstance(client, KafkaProducer) else client._cluster
    asked.addresses.update(f"{one.host}:{one.port}" for one in known.brokers())


def send(asked: Asked, topic: str, label: str, **settings: Any) -> list[tuple[int, int]]:
    """Send records; gives partition and offset of each."""
    producer = KafkaProducer(**_settings(asked, **settings))
    try:
        _await_topic(producer, topic)
        waiting = [
            producer.send(topic, value, key, partition=partition)
            for partition, key, value in sent(label)
        ]
        found = [one.get(PATIENCE) for one in waiting]
        _look(asked, producer)
    finally:
        producer.close(PATIENCE)
    return [(one.partition, one.offset) for one in found]


def _await_topic(producer: KafkaProducer, topic: str) -> None:
    """Until a topic that was named for the first time has its partitions."""
    deadline = time.monotonic() + PATIENCE
    while len(producer.partitions_for(topic) or ()) < PARTITIONS:
        if time.monotonic() > deadline:
            raise TimeoutError("no topic")
        time.sleep(0.1)


def produce(asked: Asked) -> dict[str, Any]:
    """Offsets by partition, of each compression."""
    return {
        name: by_partition(
            send(
                asked,
                f"{asked.name}-{name}",
                "p",
                compression_type=None if name == "none" else name,
                acks="all",
            )
        )
        for name in asked.compressions(*["zstd"] * asked.embedded)
    }


def _consumer(asked: Asked, group: str, **more: Any) -> KafkaConsumer:
    settings = {
        "group_id": group,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        # the embedded cluster ends a rebalance 1 s before a session would time out
        "session_timeout_ms": 1200 if asked.embedded else 6000,
        "heartbeat_interval_ms": 300,
        "fetch_max_wait_ms": 100,
        **more,
    }
    consumer = KafkaConsumer(**_settings(asked, **settings))
    # a leader that does not know the topic yet assigns nothing, and may stay with that for minutes
    consumer.partitions_for_topic(asked.name)
    return consumer


def _read(consumer: KafkaConsumer, wanted: int) -> list[Record]:
    found: list[Record] = []
    deadline = time.monotonic() + PATIENCE
    while len(found) < wanted:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(found)} of {wanted} records in {PATIENCE:g} s")
        for records in consumer.poll(200).values():
            for one in records:
                key = None if one.key is None else one.key.decode()
                found.append((one.partition, one.offset, key, one.value.decode()))
    return sorted(found)


def consume_in_group(asked: Asked) -> dict[str, Any]:
    """What a group reads, and what the next member reads after the commit."""
    topic = asked.name
    found = {}
    for label in ("first", "second"):
        send(asked, topic, label)
        consumer = _consumer(asked, asked.name)
        try:
            consumer.subscribe([topic])
            found[label] = _read(consumer, RECORDS)
            _commit(consumer, topic, found[label])
            _look(asked, consumer)
        finally:
            consumer.close()
    return found


def _commit(consumer: KafkaConsumer, topic: str, read: list[Record]) -> Any:
    """Commit what was read; again if the leader has just seen the topic's metadata and rejoins."""
    behind = {TopicPartition(topic, one[0]): OffsetAndMetadata(one[1] + 1, "", -1) for one in read}
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return consumer.commit(behind)
        except RebalanceInProgressError:
            if time.monotonic() > deadline:
                raise
            consumer.poll(100)


class _Member:
    def __init__(self, asked: Asked) -> None:
        self._consumer = _consumer(asked, asked.name)
        self._consumer.subscribe([asked.name])

    def poll(self) -> None:
        self._consumer.poll(100)

    def owned(self) -> list[int]:
        return [one.partition for one in self._consumer.assignment()]

    def close(self) -> None:
        self._consumer.close()


def rebalance(asked: Asked) -> dict[str, Any]:
    """Who owns what."""
    send(asked, asked.name, "r")
    return shared(lambda: _Member(asked))


def transact(asked: Asked) -> dict[str, Any]:
    """What is seen of a transaction that was aborted, and of one that was committed with offsets."""
    topic = asked.name
    send(asked, topic, "plain")
    source = _consumer(asked, asked.name)
    producer = KafkaProducer(**_settings(asked, transactional_id=asked.name))
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    try:
        source.subscribe([topic])
        _read(source, RECORDS)
        producer.init_transactions()
        for label in ("aborted", "committed"):
            producer.begin_transaction()
            for partition, key, value in sent(label):
                producer.send(topic, value, key, partition=partition)
            producer.flush(PATIENCE)
            if label == "aborted":
                producer.abort_transaction()
            else:
                positions = {
                    one: OffsetAndMetadata(source.position(one), "", -1) for one in partitions
                }
                producer.send_offsets_to_transaction(positions, asked.name)
                producer.commit_transaction()
        # the group's coordinator learns a moment later that the transaction was committed
        offsets = eventually(
            lambda: {str(one.partition): source.committed(one) for one in partitions},
            lambda found: None not in found.values(),
        )
        _look(asked, producer)
    finally:
        source.close()
        producer.close(PATIENCE)
    return {
        "offsets": offsets,
        "committed": _seen(asked, "read_committed", 2 * RECORDS),
        "uncommitted": _seen(asked, "read_uncommitted", 3 * RECORDS),
    }


def _seen(asked: Asked, isolation: str, wanted: int) -> list[Record]:
    consumer = _consumer(asked, f"{asked.name}-{isolation}", isolation_level=isolation)
    try:
        consumer.subscribe([asked.name])
        return _read(consumer, wanted)
    finally:
        consumer.close()


def admin(asked: Asked) -> dict[str, Any]:
    """What admin calls give."""
    topic = f"{asked.name}-made"
    send(asked, asked.name, "a")
    client = KafkaAdminClient(**_settings(asked))

    def nodes() -> int:
        found = client.describe_cluster()["brokers"]
        asked.addresses.update(f"{one['host']}:{one['port']}" for one in found)
        return len(found)

    def partitions() -> list[list[int]]:
        found = client.describe_topics([topic])[0]["partitions"]
        return sorted([one["partition_index"], len(one["replica_nodes"])] for one in found)

    def create() -> None:
        client.create_topics({topic: {"num_partitions": MADE, "replication_factor": 1}})

    def more() -> None:
        client.create_partitions({topic: GROWN})

    def cluster() -> bool:
        found = client.describe_cluster()
        return found["controller_id"] in [one["broker_id"] for one in found["brokers"]]

    def configs() -> Any:
        wanted = ConfigResource(ConfigResourceType.TOPIC, topic)
        found = client.describe_configs([wanted], config_filter="all")
        return found["topic"][topic]["cleanup.policy"]["value"]

    def delete() -> None:
        client.delete_topics([topic])

    def commit() -> None:
        consumer = _consumer(asked, asked.name)
        consumer.assign([TopicPartition(asked.name, 0)])
        consumer.commit({TopicPartition(asked.name, 0): OffsetAndMetadata(7, "", -1)})
        consumer.close()

    def groups() -> bool:
        return asked.name in [one["group_id"] for one in client.list_groups()]

    def group() -> list[Any]:
        found = client.describe_groups([asked.name])[asked.name]
        return [str(found["group_state"]), len(found["members"])]

    def offsets() -> list[list[int]]:
        # all of a group's offsets at once came with 0.10.2
        found = client.list_group_offsets({asked.name: [TopicPartition(asked.name, 0)]})[asked.name]
        return [[one.partition, offset.offset] for one, offset in found.items()]

    calls: dict[str, Callable[[], Any]] = {
        "nodes": nodes,
        "create": create,
        "described": lambda: settled(partitions, MADE),
        "more": more,
        "grown": lambda: settled(partitions, GROWN),
        "cluster": cluster,
        "configs": configs,
        "delete": delete,
        "commit": commit,
        "groups": groups,
        "group": group,
        "offsets": offsets,
    }
    try:
        return administer(asked, calls)
    finally:
        client.close()


if __name__ == "__main__":
    main(produce, consume_in_group, rebalance, transact, admin)
