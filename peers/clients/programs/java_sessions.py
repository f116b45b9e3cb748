"""Sessions of the Java client, through JPype (`java_machine.py`)."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from java_machine import SESSION, java, jpype, kafka, offered
from lines import BEAT, JOINING, delivered, here, read, wanted

WAIT = 700
"""Milliseconds that anything else is waited for at most."""

PUSHING = 0.2
"""Seconds until metrics have been pushed for the first time."""

_BYTES = "org.apache.kafka.common.serialization.ByteArray"


def _properties(bootstrap: str, **named: Any) -> Any:
    SESSION.set(java("lang.Integer")(here()))
    table = java("util.Properties")()
    settings = {
        "bootstrap.servers": bootstrap,
        "client.id": "barnabas",
        "reconnect.backoff.ms": 1,
        "reconnect.backoff.max.ms": 5,
        "retry.backoff.ms": 5,
        "retry.backoff.max.ms": 10,
        "request.timeout.ms": WAIT,
        "default.api.timeout.ms": WAIT,
        "enable.metrics.push": "false",
        # no JMX, for speed: up to 3.9 by the first setting, from 4.0 on by the second
        "auto.include.jmx.reporter": "false",
        "metric.reporters": "",
        **{name.replace("_", "."): value for name, value in named.items()},
    }
    for name, value in settings.items():
        table.setProperty(name, str(value))
    return table


def _consumer(bootstrap: str, **settings: Any) -> Any:
    return kafka("clients.consumer.KafkaConsumer")(
        _properties(
            bootstrap,
            key_deserializer=f"{_BYTES}Deserializer",
            value_deserializer=f"{_BYTES}Deserializer",
            auto_offset_reset="earliest",
            enable_auto_commit="false",
            fetch_max_wait_ms=20,
            **settings,
        )
    )


def _duration(milliseconds: int) -> Any:
    return java("time.Duration").ofMillis(milliseconds)


def _read(consumer: Any, more: float = 0.0) -> int:
    def poll(seconds: float) -> int:
        records = list(consumer.poll(_duration(int(seconds * 1e3))))
        for record in records:
            headers = [
                (str(each.key()), _bytes(each.value())) for each in record.headers().toArray()
            ]
            position = int(record.partition()), int(record.offset()), int(record.timestamp())
            delivered(*position, _bytes(record.key()), _bytes(record.value()), headers)
        return len(records)

    return read(poll, more)


def _bytes(array: Any) -> bytes | None:
    return None if array is None else bytes(array)


def sasl(bootstrap: str, topic: str) -> int:
    """Authenticate by SASL PLAIN, then read both partitions without a group."""
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return consume(
        bootstrap,
        topic,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_jaas_config=f'{module} required username="barnabas" password="secret";',
    )


def consume(bootstrap: str, topic: str, **settings: Any) -> int:
    """Read both partitions without a group."""
    consumer = _consumer(bootstrap, **settings)
    try:
        partitions = [kafka("common.TopicPartition")(topic, number) for number in range(2)]
        consumer.assign(java("util.Arrays").asList(*partitions))
        records = _read(consumer)
        if wanted():
            consumer.endOffsets(java("util.Arrays").asList(*partitions))
        return records
    finally:
        consumer.close(_duration(300))


def read_committed(bootstrap: str, topic: str) -> int:
    """Read both partitions without aborted records."""
    return consume(bootstrap, topic, isolation_level="read_committed")


def sticky(bootstrap: str, topic: str) -> int:
    """Run the session `group` with the sticky assignor."""
    return _group_with("StickyAssignor", bootstrap, topic)


def cooperative(bootstrap: str, topic: str) -> int:
    """Run the session `group` with the cooperative sticky assignor, if the release has it."""
    return _group_with("CooperativeStickyAssignor", bootstrap, topic)


def _group_with(assignor: str, bootstrap: str, topic: str) -> int:
    name = f"clients.consumer.{assignor}"
    if not offered(name):
        return 0
    strategy = f"org.apache.kafka.{name}"
    return group(bootstrap, topic, partition_assignment_strategy=strategy)


def group(bootstrap: str, topic: str, **settings: Any) -> int:
    """Join a group, read, commit, leave."""
    consumer = _consumer(
        bootstrap,
        group_id="bench-group",
        session_timeout_ms=WAIT,
        heartbeat_interval_ms=100,
        max_poll_interval_ms=900,
        **settings,
    )
    try:
        consumer.subscribe(java("util.Arrays").asList(topic))
        records = _read(consumer, JOINING)
        if records and wanted():
            consumer.commitSync()
        if wanted():
            consumer.committed(
                java("util.Collections").singleton(kafka("common.TopicPartition")(topic, 0))
            )
        return records
    finally:
        consumer.close(_duration(300))


def static_member(bootstrap: str, topic: str) -> int:
    """Stay in a group as a static member (KIP-345) until the session is over."""
    return member(bootstrap, topic, group_instance_id="bench-instance")


def consumer_member(bootstrap: str, topic: str) -> int:
    """Stay in a group of the consumer protocol (KIP-848) until the session is over, if the library has it."""
    if not hasattr(kafka("clients.consumer.ConsumerConfig"), "GROUP_PROTOCOL_CONFIG"):
        return 0
    return member(bootstrap, topic, group_protocol="consumer")


def committing_member(bootstrap: str, topic: str) -> int:
    """Stay in a classic group, and commit repeatedly, until the session is over."""
    return member(bootstrap, topic, committing=True)


def member(bootstrap: str, topic: str, *, committing: bool = False, **settings: Any) -> int:
    """Stay in a group until the session is over, or the coordinator's responses end the membership."""
    beats = {"session_timeout_ms": 30_000, "heartbeat_interval_ms": BEAT}
    consumer = _consumer(
        bootstrap,
        group_id="bench-group",
        max_poll_interval_ms=60_000,
        request_timeout_ms=20_000,
        default_api_timeout_ms=20_000,
        **({} if "group_protocol" in settings else beats),
        **settings,
    )
    try:
        consumer.subscribe(java("util.Arrays").asList(topic))
        while wanted():
            consumer.poll(_duration(10))
            if committing and not consumer.assignment().isEmpty():
                with contextlib.suppress(
                    kafka("common.errors.RetriableException"),
                    kafka("clients.consumer.CommitFailedException"),
                ):
                    consumer.commitSync()
        return 0
    finally:
        consumer.close(_duration(300))


def transactions(bootstrap: str, topic: str) -> int:
    """Commit transactions until the session is over, and abort those that fail."""
    producer = _producer(
        bootstrap, transactional_id="bench-txn", transaction_timeout_ms=30_000, max_block_ms=3000
    )
    fatal = (
        kafka("common.errors.ProducerFencedException"),
        kafka("common.errors.AuthorizationException"),
    )
    try:
        producer.initTransactions()
        while wanted():
            producer.beginTransaction()
            try:
                _send(producer, topic)
                producer.commitTransaction()
            except jpype.JException as problem:
                cause = problem.getCause() or problem
                if isinstance(cause, fatal):
                    raise
                producer.abortTransaction()
        return 0
    finally:
        producer.close(_duration(300))


def consumer_protocol(bootstrap: str, topic: str) -> int:
    """Read in a group of the consumer protocol (KIP-848), commit, leave."""
    if not hasattr(kafka("clients.consumer.ConsumerConfig"), "GROUP_PROTOCOL_CONFIG"):
        return 0
    consumer = _consumer(bootstrap, group_id="bench-group", group_protocol="consumer")
    return _assigned(consumer, topic)


def share_group(bootstrap: str, topic: str) -> int:
    """Read in a share group, which acknowledges each batch."""
    if not offered("clients.consumer.KafkaShareConsumer"):
        return 0
    batches_by_codec = dict.fromkeys(
        ("key_deserializer", "value_deserializer"), f"{_BYTES}Deserializer"
    )
    settings = _properties(
        bootstrap, group_id="bench-group", fetch_max_wait_ms=20, **batches_by_codec
    )
    return _assigned(kafka("clients.consumer.KafkaShareConsumer")(settings), topic)


def _assigned(consumer: Any, topic: str) -> int:
    """Read the assigned partitions, commit, leave."""
    try:
        consumer.subscribe(java("util.Arrays").asList(topic))
        records = _read(consumer, JOINING)
        if records and wanted():
            consumer.commitSync()
        return records
    finally:
        consumer.close(_duration(300))


def _producer(bootstrap: str, **overrides: Any) -> Any:
    settings = {"max_block_ms": WAIT, "delivery_timeout_ms": 900, "linger_ms": 0, **overrides}
    batches_by_codec = dict.fromkeys(("key_serializer", "value_serializer"), f"{_BYTES}Serializer")
    return kafka("clients.producer.KafkaProducer")(
        _properties(bootstrap, **batches_by_codec, **settings)
    )


def _send(producer: Any, topic: str) -> None:
    value = jpype.JArray(jpype.JByte)(b"value")
    record = kafka("clients.producer.ProducerRecord")(topic, jpype.JInt(0), None, value)
    producer.send(record).get()


def telemetry(bootstrap: str, topic: str) -> int:
    """Send a record, and push metrics."""
    producer = _producer(bootstrap, enable_metrics_push="true")
    until = time.monotonic() + PUSHING
    try:
        _send(producer, topic)
        while wanted(until):
            time.sleep(0.01)
        return 0
    finally:
        producer.close(_duration(300))


def produce(bootstrap: str, topic: str) -> int:
    """Send a record and wait for its acknowledgement."""
    producer = _producer(bootstrap)
    try:
        _send(producer, topic)
        return 0
    finally:
        producer.close(_duration(300))


def transaction(bootstrap: str, topic: str) -> int:
    """Send a record and a group's offsets in a transaction, and commit it."""
    producer = _producer(bootstrap, transactional_id="bench-txn", transaction_timeout_ms=1000)
    offsets = java("util.Collections").singletonMap(
        kafka("common.TopicPartition")(topic, 0), kafka("clients.consumer.OffsetAndMetadata")(3)
    )
    try:
        producer.initTransactions()
        producer.beginTransaction()
        _send(producer, topic)
        if offered("clients.consumer.ConsumerGroupMetadata"):  # since 2.5
            group = kafka("clients.consumer.ConsumerGroupMetadata")("bench-group")
            producer.sendOffsetsToTransaction(offsets, group)
        producer.commitTransaction()
        return 0
    finally:
        producer.close(_duration(300))


def _asks(client: Any, topic: str) -> dict[str, tuple[Any, ...]]:
    """Return an administrator's calls that this release has: methods and their arguments."""
    single, pair = java("util.Collections").singleton, java("util.Collections").singletonMap
    partition = kafka("common.TopicPartition")(topic, 0)
    topic_type = kafka("common.config.ConfigResource$Type").TOPIC
    before = kafka("clients.admin.RecordsToDelete").beforeOffset(1)
    calls = {
        "listTopics": (),
        "describeCluster": (),
        "describeTopics": (single(topic),),
        "listConsumerGroups": (),
        "listGroups": (),
        "describeConsumerGroups": (single("bench-group"),),
        "listConsumerGroupOffsets": ("bench-group",),
        "describeConfigs": (single(kafka("common.config.ConfigResource")(topic_type, topic)),),
        "describeLogDirs": (single(java("lang.Integer")(0)),),
        "describeProducers": (single(partition),),
        "describeTransactions": (single("bench-txn"),),
        "listTransactions": (),
        "describeMetadataQuorum": (),
        "describeUserScramCredentials": (),
        "describeFeatures": (),
        "describeShareGroups": (single("bench-group"),),
        "listPartitionReassignments": (),
        "describeDelegationToken": (),
        "createTopics": (single(kafka("clients.admin.NewTopic")("other", 1, jpype.JShort(1))),),
        "deleteRecords": (pair(partition, before),),
        "deleteConsumerGroupOffsets": ("bench-group", single(partition)),
        "deleteConsumerGroups": (single("bench-group"),),
        "deleteTopics": (single("other"),),
    }
    return {name: arguments for name, arguments in calls.items() if hasattr(client, name)}


_RESULTS = (
    "all",
    "allTopicNames",
    "allDescriptions",
    "names",
    "nodes",
    "quorumInfo",
    "featureMetadata",
    "partitionsToOffsetAndMetadata",
    "reassignments",
    "delegationTokens",
)
"""Methods of the calls' results that return a future; each result has one of them."""  # fmt: skip


def admin(bootstrap: str, topic: str) -> int:
    """Make an administrator's calls, then raise the first exception."""
    client = kafka("clients.admin.AdminClient").create(_properties(bootstrap))
    until = time.monotonic() + WAIT / 1e3
    raised = None
    try:
        for name, arguments in _asks(client, topic).items():
            if wanted(until):
                results = getattr(client, name)(*arguments)
                result = next(
                    name_of_result
                    for name_of_result in _RESULTS
                    if hasattr(results, name_of_result)
                )
                try:
                    getattr(results, result)().get()
                except jpype.JException as problem:
                    raised = raised or problem
        if raised is not None:
            raise raised
        return 0
    finally:
        client.close(_duration(300))
