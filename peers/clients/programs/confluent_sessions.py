"""Sessions of confluent-kafka, which is librdkafka, of any release since 1.0."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from lines import BEAT, JOINING, RECORDS, delivered, failed, read, wanted

WAIT = 0.7
"""Seconds that other calls may take."""

COMMON = {
    "client.id": "barnabas",
    "reconnect.backoff.ms": 1,
    "reconnect.backoff.max.ms": 5,
    "retry.backoff.ms": 5,
    "socket.timeout.ms": 700,
    "socket.connection.setup.timeout.ms": 1000,
    "topic.metadata.refresh.fast.interval.ms": 10,
    "log_level": 0,
    "log.queue": False,
    "enable.metrics.push": False,
}
# settings by the first libversion that has them (librdkafka's CONFIGURATION.md and changelog)
_SINCE = {
    "socket.connection.setup.timeout.ms": 0x010900FF,
    "log.queue": 0,
    "enable.metrics.push": 0x020500FF,
    "group.protocol": 0x020400FF,
    "partition.assignment.strategy": 0x010600FF,
}


def _settings(bootstrap: str, **named: Any) -> dict[str, Any]:
    here = confluent_kafka.libversion()[1]
    merged = {
        "bootstrap.servers": bootstrap,
        **COMMON,
        **{k.replace("_", "."): v for k, v in named.items()},
    }
    merged["log_level"] = 0
    merged.pop("log.level", None)
    return {name: value for name, value in merged.items() if here >= _SINCE.get(name, 0)}


_CLASSIC = {"session_timeout_ms": 700, "heartbeat_interval_ms": 100}
"""Settings of classic groups; in other groups the broker decides."""


def _consumer(bootstrap: str, group: str, **settings: Any) -> Any:
    return Consumer(
        _settings(
            bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_wait_max_ms=20,
            fetch_error_backoff_ms=5,
            check_crcs=True,
            **({} if "group_protocol" in settings else _CLASSIC),
            **settings,
        )
    )


def _read(consumer: Any, more: float = 0.0) -> int:
    def poll(seconds: float) -> int:
        return sum(map(_delivered, consumer.consume(RECORDS, timeout=seconds)))

    return read(poll, more)


def _delivered(message: Any) -> bool:
    """Report a message to the bench, as a record or an error, and return whether it is a record."""
    error = message.error()
    if error is not None:
        failed(error.name())
        return False
    kind, when = message.timestamp()
    position = message.partition(), message.offset(), when if kind else None
    delivered(*position, message.key(), message.value(), _headers(message))
    return True


def _headers(message: Any) -> Any:
    # a plain call, which is optimized, does not see that headers() left an exception: the next call is blamed
    return next(map(type(message).headers, (message,)))


def _call_with_errors(call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Make a call that may fail with a documented error."""
    if not wanted():
        return
    try:
        call(*arguments, **named)
    except KafkaException as problem:
        _failed(problem)


def _failed(problem: KafkaException) -> None:
    failed(problem.args[0].name() if problem.args else "KafkaException")


def sasl(bootstrap: str, topic: str) -> int:
    """Authenticate by SASL PLAIN, then read both partitions without joining a group."""
    return consume(
        bootstrap,
        topic,
        security_protocol="sasl_plaintext",
        sasl_mechanisms="PLAIN",
        sasl_username="barnabas",
        sasl_password="secret",  # noqa: S106 (nobody checks it)
    )


def consume(bootstrap: str, topic: str, **settings: Any) -> int:
    """Read both partitions without joining a group."""
    consumer = _consumer(bootstrap, "bench-other", **settings)
    try:
        partitions = [TopicPartition(topic, number, 0) for number in range(2)]
        consumer.assign(partitions)
        records = _read(consumer)
        _call_with_errors(consumer.get_watermark_offsets, partitions[0], timeout=WAIT)
        _call_with_errors(consumer.offsets_for_times, [TopicPartition(topic, 0, 0)], timeout=WAIT)
        return records
    finally:
        consumer.close()


def read_committed(bootstrap: str, topic: str) -> int:
    """Read both partitions without aborted records."""
    return consume(bootstrap, topic, isolation_level="read_committed")


def cooperative(bootstrap: str, topic: str) -> int:
    """Run the session `group` with the cooperative sticky assignor, if the library has it."""
    if confluent_kafka.libversion()[1] < _SINCE["partition.assignment.strategy"]:
        return 0
    return group(bootstrap, topic, partition_assignment_strategy="cooperative-sticky")


def consumer_protocol(bootstrap: str, topic: str) -> int:
    """Read and commit in a group of the consumer protocol (KIP-848), if the library has it."""
    if confluent_kafka.libversion()[1] < _SINCE["group.protocol"]:
        return 0
    return group(bootstrap, topic, group_protocol="consumer")


def group(bootstrap: str, topic: str, **settings: Any) -> int:
    """Join a group, read, commit, fetch the committed offset, leave."""
    consumer = _consumer(bootstrap, "bench-group", **settings)
    try:
        consumer.subscribe([topic])
        records = _read(consumer, JOINING)
        if records:
            _call_with_errors(consumer.commit, asynchronous=False)
        _call_with_errors(consumer.committed, [TopicPartition(topic, 0)], timeout=WAIT)
        return records
    finally:
        consumer.close()


def static_member(bootstrap: str, topic: str) -> int:
    """Stay in a group as a static member (KIP-345) until the session is over."""
    return member(bootstrap, topic, group_instance_id="bench-instance")


def consumer_member(bootstrap: str, topic: str) -> int:
    """Stay in a group of the consumer protocol (KIP-848) until the session is over, if the library has it."""
    if confluent_kafka.libversion()[1] < _SINCE["group.protocol"]:
        return 0
    return member(bootstrap, topic, group_protocol="consumer")


def committing_member(bootstrap: str, topic: str) -> int:
    """Stay in a classic group, and commit repeatedly, until the session is over."""
    return member(bootstrap, topic, committing=True)


def member(bootstrap: str, topic: str, *, committing: bool = False, **overrides: Any) -> int:
    """Stay in a group until the session is over, or the coordinator's responses end the membership."""
    beats = {"session_timeout_ms": 30_000, "heartbeat_interval_ms": BEAT}
    common = {"group_id": "bench-group", "socket_timeout_ms": 20_000, "enable_auto_commit": False}
    settings = {"auto_offset_reset": "earliest", "fetch_wait_max_ms": 20, **common, **overrides}
    if "group_protocol" not in overrides:
        settings.update(beats)
    consumer = Consumer(_settings(bootstrap, **settings))
    try:
        consumer.subscribe([topic])
        while wanted():
            message = consumer.poll(0.01)
            error = None if message is None else message.error()
            if error is not None and error.code() == KafkaError._FATAL:
                failed(error.name())
                raise KafkaException(error)
            if committing and consumer.position([TopicPartition(topic, 0)])[0].offset >= 0:
                position = TopicPartition(
                    topic, 0, 1
                )  # the same again, or there were no more to read
                _call_with_errors(consumer.commit, offsets=[position], asynchronous=False)
        return 0
    finally:
        consumer.close()


def transactions(bootstrap: str, topic: str) -> int:
    """Commit transactions until the session is over, and abort those that fail."""
    settings = {"transactional_id": "bench-txn", "transaction_timeout_ms": 30_000}
    producer = Producer(_settings(bootstrap, linger_ms=0, message_timeout_ms=3000, **settings))
    try:
        producer.init_transactions(3.0)
        while wanted():
            producer.begin_transaction()
            try:
                producer.produce(topic, b"value", partition=0)
                producer.commit_transaction(3.0)
            except KafkaException as problem:
                if problem.args[0].txn_requires_abort():
                    producer.abort_transaction(3.0)
                elif not problem.args[0].retriable():
                    raise
    except KafkaException as problem:
        _failed(problem)
        raise
    return 0


def share_group(bootstrap: str, topic: str) -> int:
    """Read in a share group and acknowledge the records; the library has share groups since 2.16."""
    share_consumer = getattr(confluent_kafka, "ShareConsumer", None)
    if share_consumer is None:
        return 0
    consumer = share_consumer(_settings(bootstrap, group_id="bench-group"))
    try:
        consumer.subscribe([topic])
        records = read(lambda seconds: sum(map(_delivered, consumer.poll(seconds))), JOINING)
        if records:
            _call_with_errors(consumer.commit_sync, WAIT)
        return records
    finally:
        consumer.close()


def telemetry(bootstrap: str, topic: str) -> int:
    """Send a few records and push metrics."""
    return produce(bootstrap, topic, enable_metrics_push=True)


def produce(bootstrap: str, topic: str, **overrides: Any) -> int:
    """Send a few records and wait for their acknowledgement."""
    settings = _settings(bootstrap, linger_ms=0, message_timeout_ms=900, acks="all", **overrides)
    producer = Producer(settings)
    for number in range(3):
        producer.produce(topic, b"value", partition=number % 2, on_delivery=_acknowledged)
    until = time.monotonic() + WAIT
    while wanted(until) and producer.flush(0.02):
        pass
    return 0


def _acknowledged(error: Any, _: Any) -> None:
    if error is not None:
        failed(error.name())


def transaction(bootstrap: str, topic: str) -> int:
    """Send a record and a group's offsets in a transaction, and commit it."""
    settings = {"transactional_id": "bench-txn", "transaction_timeout_ms": 1000}
    producer = Producer(_settings(bootstrap, linger_ms=0, message_timeout_ms=900, **settings))
    consumer = _consumer(bootstrap, "bench-group")
    try:
        producer.init_transactions(WAIT)
        producer.begin_transaction()
        producer.produce(topic, b"value", partition=0)
        group = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, 3)], group, WAIT)
        producer.commit_transaction(WAIT)
    except KafkaException as problem:
        _failed(problem)
    finally:
        consumer.close()
    return 0


def admin(bootstrap: str, topic: str) -> int:
    """Make an administrator's calls."""
    client = AdminClient(_settings(bootstrap))
    until = time.monotonic() + WAIT
    named = ConfigResource(2, topic)
    for name, arguments in (
        ("list_topics", ()),
        ("list_groups", ()),
        ("list_consumer_groups", ()),
        ("describe_consumer_groups", (["bench-group"],)),
        ("describe_configs", ([named],)),
        ("create_topics", ([NewTopic("other", 1, 1)],)),
        ("delete_topics", (["other"],)),
        ("delete_consumer_groups", (["bench-group"],)),
        ("describe_cluster", ()),
        ("describe_user_scram_credentials", ()),
    ):
        call = getattr(client, name, None)
        if call is not None and wanted(until):
            _call_with_errors(_wait_for_futures, call, arguments)
    return 0


def _wait_for_futures(call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Make a call and wait for its futures."""
    result = call(
        *arguments, **({"timeout": WAIT} if call.__name__ in ("list_topics", "list_groups") else {})
    )
    for future in result.values() if isinstance(result, dict) else [result]:
        if hasattr(future, "result"):
            try:
                future.result(timeout=WAIT)
            except TimeoutError:
                return
