"""Reads what the cluster holds, directly: confluent-kafka, once uncommitted and once committed.

A commit is acknowledged before its markers are in all partitions, so the second read waits a little
for what is not decided yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.experiments.explore.history import Place
from barnabas.experiments.explore.log import Log, Logged

PATIENCE: Final = 10.0
"""Seconds that the cluster may take for an answer, and without any progress in a read."""

SETTLE: Final = 3.0
"""Seconds that open transactions get to be decided."""

NEEDS: Final = "pip install 'barnabas[peers]'"

COMMON: Final[dict[str, Any]] = {"client.id": "barnabas-log", "log_level": 0}

IdOf = Callable[[Any], str]
"""A record's id, of a message as confluent-kafka has it."""


class LogError(RuntimeError):
    """The cluster can't be read, and why."""


def id_of(where: str) -> IdOf:
    """Where a record has its id: `value`, `key` or `header:NAME`. Raises ValueError."""
    kind, _, name = where.partition(":")
    if where == "value":
        return lambda message: _text(message.value())
    if where == "key":
        return lambda message: _text(message.key())
    if kind == "header" and name:
        return lambda message: _text(dict(message.headers() or ()).get(name))
    raise ValueError(f"{where!r} is not a place of ids: expected value, key or header:NAME")


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="backslashreplace")


def ends(bootstrap: str) -> dict[Place, int]:
    """Where the partitions of all topics end, but for internal ones. Raises LogError."""
    admin = _kafka("admin").AdminClient({**COMMON, "bootstrap.servers": bootstrap})
    kafka = _kafka()
    latest = _kafka("admin").OffsetSpec.latest()
    try:
        wanted = [kafka.TopicPartition(*place) for place in _places(admin)]
        if not wanted:
            return {}
        asked = admin.list_offsets(dict.fromkeys(wanted, latest), request_timeout=PATIENCE)
        return {
            (place.topic, place.partition): max(answer.result().offset, 0)
            for place, answer in asked.items()
        }
    except kafka.KafkaException as problem:
        raise LogError(_reason(bootstrap, problem)) from None


def read_log(
    bootstrap: str,
    topics: Iterable[str],
    starts: Mapping[Place, int],
    where: IdOf,
    *,
    settle: float = SETTLE,
    own: Mapping[str, Any] | None = None,
) -> Log:
    """All records of these topics from some offsets on (0 where none is given). own: what librdkafka has to
    be told of these brokers. Raises LogError."""
    kafka = _kafka()
    names = set(topics)
    if not names:
        return Log()
    try:
        settings = {**COMMON, "bootstrap.servers": bootstrap, **(own or {})}
        admin = _kafka("admin").AdminClient(settings)
        begin = {
            place: starts.get(place, 0)
            for place in _places(admin, internal=True)
            if place[0] in names
        }
        everything, end = _read(kafka, settings, begin, "read_uncommitted")
        until = time.monotonic() + settle
        committed, decided = _read(kafka, settings, begin, "read_committed")
        while decided != end and time.monotonic() < until:
            time.sleep(0.1)  # nothing tells when a transaction is decided
            committed, decided = _read(kafka, settings, begin, "read_committed")
    except kafka.KafkaException as problem:
        raise LogError(_reason(bootstrap, problem)) from None
    visible = {(message.topic(), message.partition(), message.offset()) for message in committed}
    records = []
    for message in everything:
        at = message.topic(), message.partition(), message.offset()
        open_still = at[2] >= decided[at[:2]]
        records.append(
            Logged(*at, where(message), True if at in visible else None if open_still else False)
        )
    return Log(records, begin)


def _read(
    kafka: Any, settings: Mapping[str, Any], begin: Mapping[Place, int], isolation: str
) -> tuple[list[Any], dict[Place, int]]:
    """The messages of these partitions, and the offsets at which they end."""
    consumer = kafka.Consumer(
        {
            **settings,
            "group.id": "barnabas-log",  # it has to have one, and never joins it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",  # what was deleted meanwhile is gone
            "isolation.level": isolation,
            "fetch.wait.max.ms": 10,
        }
    )
    bootstrap = settings["bootstrap.servers"]
    found: list[Any] = []
    end: dict[Place, int] = {}
    try:
        consumer.assign([kafka.TopicPartition(*place, offset) for place, offset in begin.items()])
        deadline = time.monotonic() + PATIENCE
        while len(end) < len(begin):
            messages = consumer.consume(1000, timeout=0.1)
            if messages:
                deadline = time.monotonic() + PATIENCE
            elif time.monotonic() > deadline:
                left = ", ".join(f"{t}[{p}]" for t, p in sorted(set(begin) - set(end)))
                raise LogError(f"{bootstrap}: {left} could not be read to the end")
            for message in messages:
                error = message.error()
                if error is None:
                    found.append(message)
                elif error.code() == kafka.KafkaError._PARTITION_EOF:
                    end[message.topic(), message.partition()] = message.offset()
                elif error.fatal() or not error.retriable():
                    raise LogError(f"{bootstrap}: {error.str()}")
    finally:
        consumer.close()
    return found, end


def _places(admin: Any, *, internal: bool = False) -> list[Place]:
    """All partitions; of topics whose name begins with `__` only if they are wanted."""
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
