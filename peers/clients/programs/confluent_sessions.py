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
"""Seconds that anything else is waited for at most."""

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
# what releases came to know, with what they are as numbers (librdkafka's CONFIGURATION.md and changelog)
_SINCE = {
    "socket.connection.setup.timeout.ms": 0x010900FF,
    "log.queue": 0,
    "enable.metrics.push": 0x020500FF,
    "group.protocol": 0x020400FF,
}


def _settings(bootstrap: str, **own: Any) -> dict[str, Any]:
    here = confluent_kafka.libversion()[1]
    found = {
        "bootstrap.servers": bootstrap,
        **COMMON,
        **{k.replace("_", "."): v for k, v in own.items()},
    }
    found["log_level"] = 0
    found.pop("log.level", None)
    return {name: value for name, value in found.items() if here >= _SINCE.get(name, 0)}


_CLASSIC = {"session_timeout_ms": 700, "heartbeat_interval_ms": 100}
"""Of members of classic groups; of others the broker decides that."""


def _consumer(bootstrap: str, group: str, **own: Any) -> Any:
    return Consumer(
        _settings(
            bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_wait_max_ms=20,
            fetch_error_backoff_ms=5,
            check_crcs=True,
            **({} if "group_protocol" in own else _CLASSIC),
            **own,
        )
    )


def _read(consumer: Any, more: float = 0.0) -> int:
    def poll(seconds: float) -> int:
        return sum(map(_delivered, consumer.consume(RECORDS, timeout=seconds)))

    return read(poll, more)


def _delivered(message: Any) -> bool:
    """Tell a record, or the error that is in its place; whether it is one."""
    error = message.error()
    if error is not None:
        failed(error.name())
        return False
    kind, when = message.timestamp()
    place = message.partition(), message.offset(), when if kind else None
    delivered(*place, message.key(), message.value(), message.headers())
    return True


def _patient(call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """A call of which a documented error is the answer."""
    if not wanted():
        return
    try:
        call(*arguments, **named)
    except KafkaException as problem:
        _failed(problem)


def _failed(problem: KafkaException) -> None:
    failed(problem.args[0].name() if problem.args else "KafkaException")


def sasl(bootstrap: str, topic: str) -> int:
    """The same behind a login."""
    return consume(
        bootstrap,
        topic,
        security_protocol="sasl_plaintext",
        sasl_mechanisms="PLAIN",
        sasl_username="barnabas",
        sasl_password="secret",  # noqa: S106 (nobody checks it)
    )


def consume(bootstrap: str, topic: str, **own: Any) -> int:
    """Read both partitions without joining a group."""
    consumer = _consumer(bootstrap, "bench-other", **own)
    try:
        places = [TopicPartition(topic, number, 0) for number in range(2)]
        consumer.assign(places)
        records = _read(consumer)
        _patient(consumer.get_watermark_offsets, places[0], timeout=WAIT)
        _patient(consumer.offsets_for_times, [TopicPartition(topic, 0, 0)], timeout=WAIT)
        return records
    finally:
        consumer.close()


def consumer_protocol(bootstrap: str, topic: str) -> int:
    """The same in a group of the protocol of KIP-848."""
    if confluent_kafka.libversion()[1] < _SINCE["group.protocol"]:
        return 0
    return group(bootstrap, topic, group_protocol="consumer")


def group(bootstrap: str, topic: str, **own: Any) -> int:
    """Join a group, read, commit, ask what is committed, leave."""
    consumer = _consumer(bootstrap, "bench-group", **own)
    try:
        consumer.subscribe([topic])
        records = _read(consumer, JOINING)
        if records:
            _patient(consumer.commit, asynchronous=False)
        _patient(consumer.committed, [TopicPartition(topic, 0)], timeout=WAIT)
        return records
    finally:
        consumer.close()


def static_member(bootstrap: str, topic: str) -> int:
    """The same as a static member (KIP-345)."""
    return member(bootstrap, topic, group_instance_id="bench-instance")


def consumer_member(bootstrap: str, topic: str) -> int:
    """The same in a group of the protocol of KIP-848, if the library has it."""
    if confluent_kafka.libversion()[1] < _SINCE["group.protocol"]:
        return 0
    return member(bootstrap, topic, group_protocol="consumer")


def committing_member(bootstrap: str, topic: str) -> int:
    """The same in a classic group, and commit again and again."""
    return member(bootstrap, topic, committing=True)


def member(bootstrap: str, topic: str, *, committing: bool = False, **own: Any) -> int:
    """Be in a group until the session is over; nothing but its coordinator's answers ends it."""
    beats = {"session_timeout_ms": 30_000, "heartbeat_interval_ms": BEAT}
    common = {"group_id": "bench-group", "socket_timeout_ms": 20_000, "enable_auto_commit": False}
    settings = {"auto_offset_reset": "earliest", "fetch_wait_max_ms": 20, **common, **own}
    if "group_protocol" not in own:
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
                place = TopicPartition(topic, 0, 1)  # the same again, or there were no more to read
                _patient(consumer.commit, offsets=[place], asynchronous=False)
        return 0
    finally:
        consumer.close()


def transactions(bootstrap: str, topic: str) -> int:
    """Commit one transaction after the other until the session is over, and abort those that fail."""
    own = {"transactional_id": "bench-txn", "transaction_timeout_ms": 30_000}
    producer = Producer(_settings(bootstrap, linger_ms=0, message_timeout_ms=3000, **own))
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
    """Read in a share group, and acknowledge what was read; the library has had that since 2.16."""
    kind = getattr(confluent_kafka, "ShareConsumer", None)
    if kind is None:
        return 0
    consumer = kind(_settings(bootstrap, group_id="bench-group"))
    try:
        consumer.subscribe([topic])
        records = read(lambda seconds: sum(map(_delivered, consumer.poll(seconds))), JOINING)
        if records:
            _patient(consumer.commit_sync, WAIT)
        return records
    finally:
        consumer.close()


def telemetry(bootstrap: str, topic: str) -> int:
    """The same, and push metrics."""
    return produce(bootstrap, topic, enable_metrics_push=True)


def produce(bootstrap: str, topic: str, **own: Any) -> int:
    """Send a few records and wait for their acknowledgement."""
    settings = _settings(bootstrap, linger_ms=0, message_timeout_ms=900, acks="all", **own)
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
    """Send in a transaction, offsets of a group as well, and commit it."""
    own = {"transactional_id": "bench-txn", "transaction_timeout_ms": 1000}
    producer = Producer(_settings(bootstrap, linger_ms=0, message_timeout_ms=900, **own))
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
    """Ask what an administrator asks."""
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
            _patient(_asked, call, arguments)
    return 0


def _asked(call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """A call and what it promised."""
    found = call(
        *arguments, **({"timeout": WAIT} if call.__name__ in ("list_topics", "list_groups") else {})
    )
    for one in found.values() if isinstance(found, dict) else [found]:
        if hasattr(one, "result"):
            try:
                one.result(timeout=WAIT)
            except TimeoutError:
                return
