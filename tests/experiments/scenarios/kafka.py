"""Real clients in front of real brokers, with a ready scenario between them, and what came of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.library import find
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import load
from barnabas.proxy.scenario.model import Scenario
from tests.waiting import SOON, until

VERSION: Final = "4.3.1"

BROKERS: Final = 3

SETTINGS: Final = {
    "broker.session.timeout.ms": "60000",
    "group.min.session.timeout.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.min.record.lock.duration.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}
"""What brokers are told beside the usual: what tests wait for comes soon."""

PLAIN: Final = {"enable.idempotence": False, "max.in.flight.requests.per.connection": 5}
"""Settings of a producer without idempotence."""

QUICK: Final[dict[str, Any]] = {
    "log_level": 0,
    "retry.backoff.ms": 50,
    "reconnect.backoff.max.ms": 200,
    "topic.metadata.refresh.fast.interval.ms": 100,
}
"""Settings of confluent-kafka that do not wait long before they try again."""

JAVA: Final = {"retry.backoff.ms": "50", "reconnect.backoff.max.ms": "200"}
"""The same of Java clients."""

SINGLY: Final = {"linger.ms": "0", "batch.size": "1"}
"""Settings of a Java producer that sends one record a request."""

JAVA_FEW: Final = {"max.partition.fetch.bytes": "1", "max.poll.records": "1"}
"""Settings of a Java consumer that gets one record a response."""

FEW: Final[dict[str, Any]] = {"fetch.message.max.bytes": 1, "fetch.error.backoff.ms": 50}
"""The same of confluent-kafka, with a short pause after an error."""


def ready(scenario: str) -> Scenario:
    """A scenario of the library."""
    return load(find(Path(scenario)))


def through(scenario: str, bootstrap: str) -> Harness:
    """A proxy in front of a cluster, with a scenario of the library."""
    return Harness(bootstrap, scenario=ready(scenario))


def fired(proxy: Harness, rule: str) -> list[Exchange]:
    """The exchanges on which a rule fired, of those that are over."""
    return [exchange for exchange in list(proxy.exchanges) if rule in exchange.rules]


def silence(proxy: Harness, exchange: Exchange) -> float:
    """How long nothing came on its connection once it was answered, in ms; infinite if nothing came."""
    connection, answered = exchange.connection, exchange.answered or 0
    times = [one.ts for one in list(proxy.exchanges) if one.connection == connection]
    return min(((ts - answered) / 1e6 for ts in times if ts > answered), default=math.inf)


def made_topic(
    bootstrap: str,
    name: str,
    partitions: int = 1,
    *,
    leader: int = 1,
    replicas: int = 1,
    settings: Mapping[str, str] | None = None,
) -> str:
    """Make a topic, and give its name when every partition has a leader.

    leader: node id of the first partition's; those of the others, and the other replicas of each, follow
    it, in a circle.
    """
    admin = AdminClient({**QUICK, "bootstrap.servers": bootstrap})
    nodes = [(leader - 1 + step) % BROKERS + 1 for step in range(partitions + replicas - 1)]
    assigned = [nodes[number : number + replicas] for number in range(partitions)]
    topic = NewTopic(name, partitions, replica_assignment=assigned, config=dict(settings or {}))
    admin.create_topics([topic])[name].result(SOON)

    until(lambda: led(admin, name, partitions), f"{name} has leaders")
    return name


def led(admin: AdminClient, name: str, partitions: int) -> bool:
    """Whether each leader of a topic knows that it leads: it says where its log ends.

    A broker knows a new topic a moment before it can write to it.
    """
    ends = {TopicPartition(name, number): OffsetSpec.latest() for number in range(partitions)}
    return all(one.exception(SOON) is None for one in admin.list_offsets(ends).values())


def numbers(count: int, begin: int = 0) -> list[bytes]:
    """Values to send: 0, 1, 2 and so on."""
    return [b"%d" % number for number in range(begin, begin + count)]


def spread(values: Sequence[bytes], partitions: int) -> dict[int, list[bytes]]:
    """What is in each partition when values were sent to them in turn, each once and in order."""
    return {number: list(values[number::partitions]) for number in range(partitions)}


@dataclass
class Sent:
    """What a producer was told of the records that it sent."""

    acknowledged: list[bytes] = field(default_factory=list)
    failed: dict[bytes, str] = field(default_factory=dict)
    """Value -> the error's name."""

    def told(self, value: bytes, error: KafkaError | None) -> None:
        """Note what became of a record."""
        if error is None:
            self.acknowledged.append(value)
        else:
            self.failed[value] = error.name()


def send(
    bootstrap: str,
    topic: str,
    values: Sequence[bytes],
    settings: Mapping[str, Any] | None = None,
    *,
    partitions: int = 1,
    seconds: float = 0.0,
) -> Sent:
    """Send values to the partitions in turn with confluent-kafka, one record a request, and wait.

    With idempotence, if the settings do not say otherwise. seconds: over which they are spread.
    """
    own = {
        "enable.idempotence": True,
        "linger.ms": 0,
        "batch.num.messages": 1,
        "message.timeout.ms": int(SOON * 1000),
    }
    producer = Producer({**QUICK, **own, "bootstrap.servers": bootstrap, **(settings or {})})
    sent = Sent()
    begun = time.monotonic()
    for place, value in enumerate(values):
        try:
            producer.produce(
                topic,
                value,
                partition=place % partitions,
                on_delivery=lambda error, _, value=value: sent.told(value, error),
            )
        except KafkaException as problem:
            until = time.monotonic() + SOON
            while problem.args[0].code() == KafkaError._FATAL and time.monotonic() < until:
                producer.poll(0.1)  # raises what it was; what was delivered may be told before
            raise
        due = begun + seconds * place / len(values)
        while producer.poll(max(due - time.monotonic(), 0)) and time.monotonic() < due:
            pass
    left = producer.flush(SOON + 5)
    assert left == 0, f"{left} records are under way for ever"
    return sent


@dataclass
class Received:
    """What a consumer got."""

    values: list[bytes] = field(default_factory=list)
    """In the order in which they came; some may have come twice."""
    errors: list[str] = field(default_factory=list)
    """Names of those that it was told of."""
    seconds: float = 0.0


def receive(
    bootstrap: str,
    topic: str,
    count: int,
    settings: Mapping[str, Any] | None = None,
    *,
    done: Callable[[Received], bool] | None = None,
) -> Received:
    """Read a topic with confluent-kafka as the only member of a group, from its beginning on.

    Until so many different values came, or `done` says so; gives what came in any case after SOON.
    """
    own: dict[str, Any] = {"group.id": topic, "auto.offset.reset": "earliest"}
    if (settings or {}).get("group.protocol") != "consumer":  # there it is the brokers' to say
        own["session.timeout.ms"] = 6000
    consumer = Consumer({**QUICK, **own, "bootstrap.servers": bootstrap, **(settings or {})})
    received = Received()
    begun = time.monotonic()
    try:
        consumer.subscribe([topic])
        while received.seconds < SOON and not (
            done(received) if done is not None else len({*received.values}) >= count
        ):
            for message in consumer.consume(100, timeout=0.1):
                problem = message.error()
                if problem is None:
                    received.values.append(message.value())
                else:
                    received.errors.append(problem.name())
            received.seconds = time.monotonic() - begun
    finally:
        consumer.close()
    return received


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Do several things at the same time, and give what came of each."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [job.result() for job in [pool.submit(job) for job in jobs]]


def read_log(bootstrap: str, topic: str, *, committed: bool = False) -> dict[int, list[bytes]]:
    """The values in each partition, in their order; ask the brokers themselves, not the proxy.

    committed: only up to the last stable offset, and nothing of aborted transactions.
    """
    consumer = Consumer(
        {
            **QUICK,
            "bootstrap.servers": bootstrap,
            "group.id": "log",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
        }
    )
    try:
        known = consumer.list_topics(topic, timeout=SOON).topics[topic].partitions
        found: dict[int, list[bytes]] = {number: [] for number in sorted(known)}
        open_ = set(found)
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in found])
        deadline = time.monotonic() + SOON
        while open_:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{topic} could not be read to its end")
            for message in consumer.consume(1000, timeout=0.2):
                problem = message.error()
                if problem is None:
                    found[message.partition()].append(message.value())
                elif problem.code() == KafkaError._PARTITION_EOF:
                    open_.discard(message.partition())
                else:
                    raise RuntimeError(problem.str())
    finally:
        consumer.close()
    return found
