"""Sessions of kafka-python, of any release since 1.4."""

from __future__ import annotations

import importlib
import inspect
import logging
import time
from collections.abc import Callable
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.cluster import ClusterMetadata
from kafka.structs import OffsetAndMetadata
from lines import BEAT, JOINING, delivered, read, wanted

logging.getLogger("kafka").setLevel(logging.CRITICAL)

COMMON = {
    "client_id": "barnabas",
    "reconnect_backoff_ms": 1,
    "reconnect_backoff_max_ms": 50,
    "retry_backoff_ms": 5,
    "metadata_max_age_ms": 60_000,
    "request_timeout_ms": 1000,
    "connections_max_idle_ms": 5000,
    "api_version_auto_timeout_ms": 700,
    "bootstrap_timeout_ms": 700,
    "enable_metrics": False,
    "metrics_enabled": False,
    "enable_telemetry": False,
}
# not a setting since 3.0: a session waited 100 ms between its first two Metadata
ClusterMetadata.DEFAULT_CONFIG["retry_backoff_ms"] = COMMON["retry_backoff_ms"]


def _new_client(kind: Any, **named: Any) -> Any:
    """Create a client with the settings that this release knows."""
    known = kind.DEFAULT_CONFIG
    return kind(**{name: value for name, value in {**COMMON, **named}.items() if name in known})


def _consumer(bootstrap: str, group: str | None, **overrides: Any) -> Any:
    settings = {
        "session_timeout_ms": 700,
        "heartbeat_interval_ms": 100,
        "max_poll_interval_ms": 900,
        "default_api_timeout_ms": 700,
        **overrides,
    }
    return _new_client(
        KafkaConsumer,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=20,
        **settings,
    )


def _read(consumer: Any, more: float = 0.0) -> int:
    def poll(seconds: float) -> int:
        batches = consumer.poll(timeout_ms=int(seconds * 1e3))
        records = [record for batch in batches.values() for record in batch]
        for record in records:
            headers = getattr(record, "headers", None)
            delivered(
                record.partition, record.offset, record.timestamp, record.key, record.value, headers
            )
        return len(records)

    return read(poll, more)


def sasl(bootstrap: str, topic: str) -> int:
    """Authenticate by SASL PLAIN, then read both partitions without a group."""
    return consume(
        bootstrap,
        topic,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="barnabas",
        sasl_plain_password="secret",  # noqa: S106 (nobody checks it)
    )


def consume(bootstrap: str, topic: str, **settings: Any) -> int:
    """Read both partitions without a group."""
    consumer = _consumer(bootstrap, None, **settings)
    try:
        partitions = [TopicPartition(topic, number) for number in range(2)]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        records = _read(consumer)
        if wanted():
            consumer.end_offsets(partitions)
        if wanted():
            consumer.offsets_for_times({partitions[0]: 0})
        return records
    finally:
        _close(consumer)


def read_committed(bootstrap: str, topic: str) -> int:
    """Read both partitions without aborted records, if the release can."""
    return consume(bootstrap, topic, isolation_level="read_committed")


def sticky(bootstrap: str, topic: str) -> int:
    """Run the session `group` with the sticky assignor, if the release has it."""
    return _group_with("sticky.sticky_assignor", "StickyPartitionAssignor", bootstrap, topic)


def cooperative(bootstrap: str, topic: str) -> int:
    """Run the session `group` with the cooperative sticky assignor, if the release has it."""
    return _group_with("cooperative_sticky", "CooperativeStickyAssignor", bootstrap, topic)


def _group_with(module: str, name: str, bootstrap: str, topic: str) -> int:
    """Run the session `group` with an assignor."""
    try:
        assignor = getattr(importlib.import_module(f"kafka.coordinator.assignors.{module}"), name)
    except ImportError:
        return 0
    return group(bootstrap, topic, partition_assignment_strategy=[assignor])


def group(bootstrap: str, topic: str, **settings: Any) -> int:
    """Join a group, read, commit, fetch the committed offset, leave."""
    consumer = _consumer(bootstrap, "bench-group", **settings)
    try:
        consumer.partitions_for_topic(
            topic
        )  # a member that learns of partitions later has to join once more
        consumer.subscribe([topic])
        records = _read(consumer, JOINING)
        if records:
            _timed(consumer.commit)
        _timed(consumer.committed, TopicPartition(topic, 0))
        return records
    finally:
        _close(consumer)


def static_member(bootstrap: str, topic: str) -> int:
    """Stay in a group as a static member (KIP-345) until the session is over, if the release has them."""
    if "group_instance_id" not in KafkaConsumer.DEFAULT_CONFIG:
        return 0
    return member(bootstrap, topic, group_instance_id="bench-instance")


def member(bootstrap: str, topic: str, **settings: Any) -> int:
    """Stay in a group until the session is over, or the coordinator's responses end the membership."""
    patient = {
        "session_timeout_ms": 30_000,
        "heartbeat_interval_ms": BEAT,
        "max_poll_interval_ms": 60_000,
        "request_timeout_ms": 40_000,
        "connections_max_idle_ms": 60_000,
        "default_api_timeout_ms": 20_000,
    }
    consumer = _consumer(bootstrap, "bench-group", **patient, **settings)
    try:
        consumer.subscribe([topic])
        while wanted():
            consumer.poll(timeout_ms=10)
        return 0
    finally:
        _close(consumer)


def _timed(call: Callable[..., Any], *arguments: Any) -> None:
    """Make a call with a timeout; skip it where the release has none, since it may retry for ever."""
    if wanted() and "timeout_ms" in inspect.signature(call).parameters:
        call(*arguments, timeout_ms=700)


def produce(bootstrap: str, topic: str) -> int:
    """Send a few records and wait for their acknowledgement."""
    producer = _new_client(
        KafkaProducer,
        bootstrap_servers=bootstrap,
        acks="all",
        max_block_ms=700,
        delivery_timeout_ms=1100,
        linger_ms=0,
        retries=2,
    )
    try:
        sent = [producer.send(topic, b"value-%d" % i, partition=i % 2) for i in range(3)]
        for future in sent:
            _acknowledged(future)
        return 0
    finally:
        _end(producer)


def _acknowledged(sent: Any) -> None:
    """Wait for a record's acknowledgement, and raise its error."""
    until = time.monotonic() + 0.7
    while not sent.is_done and wanted(until):
        time.sleep(0.005)
    if sent.is_done or wanted():
        sent.get(timeout=0.001)


def _end(producer: Any) -> None:
    """Close a producer, and end its sender thread.

    With unsent records, `close` raises before it ends the sender, which then spins during all following
    sessions.
    """
    try:
        producer.close(timeout=0.5 if wanted() else 0.05)
    finally:
        sender = getattr(producer, "_sender", None)
        if sender is not None and sender.is_alive():
            sender.force_close()


def transaction(bootstrap: str, topic: str) -> int:
    """Send a record and a group's offsets in a transaction, and commit it."""
    if "transactional_id" not in KafkaProducer.DEFAULT_CONFIG:
        return 0
    producer = _new_client(
        KafkaProducer,
        bootstrap_servers=bootstrap,
        transactional_id="bench-txn",
        transaction_timeout_ms=1000,
        max_block_ms=700,
        delivery_timeout_ms=1100,
        linger_ms=0,
    )
    try:
        producer.init_transactions()
        producer.begin_transaction()
        _acknowledged(producer.send(topic, b"value", partition=0))
        if wanted():
            offsets = {TopicPartition(topic, 0): _offset(3)}
            producer.send_offsets_to_transaction(offsets, "bench-group")
        if wanted():
            producer.commit_transaction()
        return 0
    finally:
        _end(producer)


def _offset(offset: int) -> Any:
    """Return an offset to commit; releases since 2.1 add a third field."""
    return OffsetAndMetadata(*(offset, "", -1)[: len(OffsetAndMetadata._fields)])


def admin(bootstrap: str, topic: str) -> int:
    """Make an administrator's calls."""
    client = _new_client(KafkaAdminClient, bootstrap_servers=bootstrap)
    try:
        calls: tuple[tuple[str, tuple[Any, ...]], ...] = (
            ("list_topics", ()),
            ("describe_topics", ([topic],)),
            ("describe_cluster", ()),
            ("list_consumer_groups", ()),
            ("describe_consumer_groups", (["bench-group"],)),
            ("list_consumer_group_offsets", ("bench-group",)),
            ("describe_log_dirs", ()),
            ("delete_consumer_groups", (["bench-group"],)),
        )
        until = time.monotonic() + 0.7
        for name, arguments in calls:
            if not wanted(until):
                break
            _call(getattr(client, name, None), arguments)
        return 0
    finally:
        client.close()


def _call(method: Callable[..., Any] | None, arguments: tuple[Any, ...]) -> None:
    """Make a call, if the release has it."""
    if method is None:
        return
    result = method(*arguments)
    if inspect.isgenerator(result):
        list(result)


def _close(consumer: Any) -> None:
    """Close a consumer without waiting for silent brokers, where the release can."""
    if "timeout_ms" in inspect.signature(consumer.close).parameters:
        consumer.close(autocommit=False, timeout_ms=300)
    else:
        consumer.close(autocommit=False)
