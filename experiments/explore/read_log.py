"""Reads the cluster's log directly with confluent-kafka, once uncommitted and once committed.

A commit is acknowledged before its markers are in all partitions, so the second read waits a little for
undecided transactions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.experiments.explore.history import TopicPartition
from barnabas.experiments.explore.log import Log, LoggedRecord

PATIENCE: Final = 10.0
"""Timeout of a response, and of a read without progress, in seconds."""

SETTLE: Final = 3.0
"""Seconds to wait for the outcome of open transactions."""

NEEDS: Final = "install barnabas with the extra 'peers'"

COMMON: Final[dict[str, Any]] = {"client.id": "barnabas-log", "log_level": 0}

IdOf = Callable[[Any], str]
"""A record's id, of a message as confluent-kafka has it."""


class LogError(RuntimeError):
    """The cluster's log can't be read; the message is the reason."""


def id_of(source: str) -> IdOf:
    """Return the function that extracts a record's id from `value`, `key` or `header:NAME`.

    Raises:
        ValueError: The text is none of these.
    """
    field, _, name = source.partition(":")
    if source == "value":
        return lambda message: _text(message.value())
    if source == "key":
        return lambda message: _text(message.key())
    if field == "header" and name:
        return lambda message: _text(dict(message.headers() or ()).get(name))
    raise ValueError(f"{source!r} does not hold ids: expected value, key or header:NAME")


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="backslashreplace")


def ends(bootstrap: str) -> dict[TopicPartition, int]:
    """Return the end offset of each partition, except of internal topics. Raises LogError."""
    admin = _kafka("admin").AdminClient({**COMMON, "bootstrap.servers": bootstrap})
    kafka = _kafka()
    latest = _kafka("admin").OffsetSpec.latest()
    try:
        partitions = [kafka.TopicPartition(*partition) for partition in _places(admin)]
        if not partitions:
            return {}
        futures = admin.list_offsets(dict.fromkeys(partitions, latest), request_timeout=PATIENCE)
        return {
            (partition.topic, partition.partition): max(future.result().offset, 0)
            for partition, future in futures.items()
        }
    except kafka.KafkaException as problem:
        raise LogError(_reason(bootstrap, problem)) from None


def read_log(
    bootstrap: str,
    topics: Iterable[str],
    starts: Mapping[TopicPartition, int],
    record_id: IdOf,
    *,
    settle: float = SETTLE,
    broker_settings: Mapping[str, Any] | None = None,
) -> Log:
    """Return all records of topics from some offsets on.

    Args:
        bootstrap: the cluster.
        topics: names.
        starts: first offsets by partition; default 0.
        record_id: extracts a record's id.
        settle: seconds to wait for open transactions.
        broker_settings: librdkafka's settings for these brokers.

    Raises:
        LogError: The brokers can't be read.
    """
    kafka = _kafka()
    names = set(topics)
    if not names:
        return Log()
    try:
        settings = {**COMMON, "bootstrap.servers": bootstrap, **(broker_settings or {})}
        admin = _kafka("admin").AdminClient(settings)
        begin = {
            partition: starts.get(partition, 0)
            for partition in _places(admin, internal=True)
            if partition[0] in names
        }
        everything, end = _read(kafka, settings, begin, "read_uncommitted")
        deadline = time.monotonic() + settle
        committed, decided = _read(kafka, settings, begin, "read_committed")
        while decided != end and time.monotonic() < deadline:
            time.sleep(0.1)  # there is no notification of a transaction's outcome
            committed, decided = _read(kafka, settings, begin, "read_committed")
    except kafka.KafkaException as problem:
        raise LogError(_reason(bootstrap, problem)) from None
    visible = {(message.topic(), message.partition(), message.offset()) for message in committed}
    records = []
    for message in everything:
        position = message.topic(), message.partition(), message.offset()
        open_still = position[2] >= decided[position[:2]]
        records.append(
            LoggedRecord(
                *position,
                record_id(message),
                True if position in visible else None if open_still else False,
            )
        )
    return Log(records, begin)


def _read(
    kafka: Any, settings: Mapping[str, Any], begin: Mapping[TopicPartition, int], isolation: str
) -> tuple[list[Any], dict[TopicPartition, int]]:
    """Return the messages of these partitions, and their end offsets."""
    consumer = kafka.Consumer(
        {
            **settings,
            "group.id": "barnabas-log",  # it has to have one, and never joins it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",  # for records deleted meanwhile
            "isolation.level": isolation,
            "fetch.wait.max.ms": 10,
        }
    )
    bootstrap = settings["bootstrap.servers"]
    records: list[Any] = []
    end: dict[TopicPartition, int] = {}
    try:
        consumer.assign(
            [kafka.TopicPartition(*partition, offset) for partition, offset in begin.items()]
        )
        deadline = time.monotonic() + PATIENCE
        while len(end) < len(begin):
            messages = consumer.consume(1000, timeout=0.1)
            if messages:
                deadline = time.monotonic() + PATIENCE
            elif time.monotonic() > deadline:
                unread = ", ".join(f"{t}[{p}]" for t, p in sorted(set(begin) - set(end)))
                raise LogError(f"{bootstrap}: {unread} could not be read to the end")
            for message in messages:
                error = message.error()
                if error is None:
                    records.append(message)
                elif error.code() == kafka.KafkaError._PARTITION_EOF:
                    end[message.topic(), message.partition()] = message.offset()
                elif error.fatal() or not error.retriable():
                    raise LogError(f"{bootstrap}: {error.str()}")
    finally:
        consumer.close()
    return records, end


def _places(admin: Any, *, internal: bool = False) -> list[TopicPartition]:
    """Return all partitions; of topics whose name begins with `__` only if `internal` is set."""
    topics = admin.list_topics(timeout=PATIENCE).topics
    return [
        (name, partition)
        for name, topic in sorted(topics.items())
        if internal or not name.startswith("__")
        for partition in topic.partitions
    ]


def _kafka(module: str | None = None) -> Any:
    try:
        import confluent_kafka
        import confluent_kafka.admin
    except ImportError as problem:
        raise LogError(f"reading the log needs confluent-kafka: {NEEDS} ({problem})") from None
    return confluent_kafka.admin if module == "admin" else confluent_kafka


def _reason(bootstrap: str, problem: Exception) -> str:
    error = problem.args[0]
    return f"{bootstrap} can't be read: {error.str()}"
