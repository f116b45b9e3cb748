"""Sessions of kafka-python, of any release since 1.4."""

from __future__ import annotations

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
# releases since 3.0 do not tell it: a session waited 100 ms between its first two Metadata
ClusterMetadata.DEFAULT_CONFIG["retry_backoff_ms"] = COMMON["retry_backoff_ms"]


def _made(kind: Any, **own: Any) -> Any:
    """A client with those settings that this release knows."""
    known = kind.DEFAULT_CONFIG
    return kind(**{name: value for name, value in {**COMMON, **own}.items() if name in known})


def _consumer(bootstrap: str, group: str | None, **own: Any) -> Any:
    settings = {
        "session_timeout_ms": 700,
        "heartbeat_interval_ms": 100,
        "max_poll_interval_ms": 900,
        "default_api_timeout_ms": 700,
        **own,
    }
    return _made(
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
        got = consumer.poll(timeout_ms=int(seconds * 1e3))
        found = [one for some in got.values() for one in some]
        for one in found:
            headers = getattr(one, "headers", None)
            delivered(one.partition, one.offset, one.timestamp, one.key, one.value, headers)
        return len(found)

    return read(poll, more)


def sasl(bootstrap: str, topic: str) -> int:
    """The same behind a login."""
    return consume(
        bootstrap,
        topic,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="barnabas",
        sasl_plain_password="secret",  # noqa: S106 (nobody checks it)
    )


def consume(bootstrap: str, topic: str, **own: Any) -> int:
    """Read both partitions without a group."""
    consumer = _consumer(bootstrap, None, **own)
    try:
        places = [TopicPartition(topic, number) for number in range(2)]
        consumer.assign(places)
        consumer.seek_to_beginning()
        records = _read(consumer)
        if wanted():
            consumer.end_offsets(places)
        if wanted():
            consumer.offsets_for_times({places[0]: 0})
        return records
    finally:
        _close(consumer)


def group(bootstrap: str, topic: str) -> int:
    """Join a group, read, commit, ask what is committed, leave."""
    consumer = _consumer(bootstrap, "bench-group")
    try:
        consumer.partitions_for_topic(topic)  # who learns of them as a member has to join once more
        consumer.subscribe([topic])
        records = _read(consumer, JOINING)
        if records:
            _timed(consumer.commit)
        _timed(consumer.committed, TopicPartition(topic, 0))
        return records
    finally:
        _close(consumer)


def static_member(bootstrap: str, topic: str) -> int:
    """The same as a static member (KIP-345), where the release knows them."""
    if "group_instance_id" not in KafkaConsumer.DEFAULT_CONFIG:
        return 0
    return member(bootstrap, topic, group_instance_id="bench-instance")


def member(bootstrap: str, topic: str, **own: Any) -> int:
    """Be in a group until the session is over; nothing but its coordinator's answers ends it."""
    patient = {
        "session_timeout_ms": 30_000,
        "heartbeat_interval_ms": BEAT,
        "max_poll_interval_ms": 60_000,
        "request_timeout_ms": 40_000,
        "connections_max_idle_ms": 60_000,
        "default_api_timeout_ms": 20_000,
    }
    consumer = _consumer(bootstrap, "bench-group", **patient, **own)
    try:
        consumer.subscribe([topic])
        while wanted():
            consumer.poll(timeout_ms=10)
        return 0
    finally:
        _close(consumer)


def _timed(call: Callable[..., Any], *arguments: Any) -> None:
    """A call with a timeout; not at all where the release has none: it may try again for ever."""
    if wanted() and "timeout_ms" in inspect.signature(call).parameters:
        call(*arguments, timeout_ms=700)


def produce(bootstrap: str, topic: str) -> int:
    """Send a few records and wait for their acknowledgement."""
    producer = _made(
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
        for one in sent:
            _acknowledged(one)
        return 0
    finally:
        _end(producer)


def _acknowledged(sent: Any) -> None:
    """Wait for a record's acknowledgement, and raise what came instead."""
    until = time.monotonic() + 0.7
    while not sent.is_done and wanted(until):
        time.sleep(0.005)
    if sent.is_done or wanted():
        sent.get(timeout=0.001)


def _end(producer: Any) -> None:
    """Close it. Where records are left, `close` raises before it ends the sender, which then spins beside all
    sessions behind this one."""
    try:
        producer.close(timeout=0.5 if wanted() else 0.05)
    finally:
        sender = getattr(producer, "_sender", None)
        if sender is not None and sender.is_alive():
            sender.force_close()


def transaction(bootstrap: str, topic: str) -> int:
    """Send in a transaction, offsets of a group as well, and commit it."""
    if "transactional_id" not in KafkaProducer.DEFAULT_CONFIG:
        return 0
    producer = _made(
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
    """An offset to commit; releases since 2.1 have a third value in it."""
    return OffsetAndMetadata(*(offset, "", -1)[: len(OffsetAndMetadata._fields)])


def admin(bootstrap: str, topic: str) -> int:
    """Ask what an administrator asks."""
    client = _made(KafkaAdminClient, bootstrap_servers=bootstrap)
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
    """A call that not all releases have."""
    if method is None:
        return
    found = method(*arguments)
    if inspect.isgenerator(found):
        list(found)


def _close(consumer: Any) -> None:
    """Without waiting for brokers that do not answer, where the release can."""
    if "timeout_ms" in inspect.signature(consumer.close).parameters:
        consumer.close(autocommit=False, timeout_ms=300)
    else:
        consumer.close(autocommit=False)
