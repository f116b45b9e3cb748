"""Records that a consumer can't read: corrupt ones, and those of an unknown schema."""

from __future__ import annotations

import pytest
from confluent_kafka import DeserializingConsumer
from confluent_kafka.error import ValueDeserializationError
from confluent_kafka.serialization import SerializationContext, SerializationError

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    QUICK,
    Received,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(40)
CHANGED = "a batch is corrupted on its way"


CORRUPT = expect.rules(
    {"the broker reads a corrupt batch": "Fetch CORRUPT_MESSAGE", CHANGED: "Fetch "}
)


@pytest.mark.parametrize("checks", [True, False], ids=["checks", "trusts"])
def test_librdkafka_fetches_a_corrupt_batch_again_if_it_checks(
    checks: bool, cluster: ApacheCluster
) -> None:
    topic = made_topic(cluster.bootstrap, f"corrupt-fetch-{checks}")
    send(cluster.bootstrap, topic, VALUES)

    def done(so_far: Received) -> bool:
        return VALUES[-1] in so_far.values

    with through("corrupt-fetch", cluster.bootstrap) as proxy:
        own = {**FEW, "check.crcs": checks}
        received = receive(proxy.bootstrap, topic, len(VALUES), own, done=done)
    CORRUPT(proxy)
    if checks:
        assert received.errors == ["INVALID_MSG", "_BAD_MSG"]
        assert received.values == VALUES
    else:
        assert received.errors == ["INVALID_MSG"]
        place = received.values.index(b"corrupt")
        assert received.values == [*VALUES[:place], b"corrupt", *VALUES[place + 1 :]]


def test_java_does_not_get_over_a_corrupt_batch_and_a_new_consumer_does(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "corrupt-fetch-java")
    send(cluster.bootstrap, topic, VALUES)
    with through("corrupt-fetch", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        first = java_errors.consume_on(topic, VALUES[-1], settings, limit=4)
        second = java_errors.consume_on(topic, VALUES[-1], settings)
    CORRUPT(proxy)
    assert len(fired(proxy, CHANGED)) == 1
    assert first.problems == ["KafkaException"] * 4
    assert first.values == VALUES[: len(first.values)]
    assert len(first.values) > 10  # more than were read when the broker reported the error
    assert (second.problems, second.values) == ([], VALUES)


UNKNOWN = "a record has the id of a schema that is gone"
POISON = bytes([0, 127, 255, 255, 255, 0])


def deserialize(value: bytes | None, _: SerializationContext) -> int:
    """Return the number in a value of 4 bytes. Raises SerializationError for others."""
    if value == POISON:
        raise SerializationError("schema 2147483647 is unknown")
    assert value is not None
    return int.from_bytes(value, "big")


def four_bytes(count: int) -> list[bytes]:
    """Return numbers as Java's IntegerSerializer writes them."""
    return [number.to_bytes(4, "big") for number in range(count)]


def test_librdkafka_continues_after_a_record_of_an_unknown_schema(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "unknown-schema")
    send(cluster.bootstrap, topic, four_bytes(40))
    received: list[int | None] = []
    refused: list[int | None] = []
    with through("unknown-schema", cluster.bootstrap) as proxy:
        own = {
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "value.deserializer": deserialize,
        }
        consumer = DeserializingConsumer(
            {**QUICK, **FEW, **own, "bootstrap.servers": proxy.bootstrap}
        )

        def read() -> bool:
            try:
                message = consumer.poll(0.1)
            except ValueDeserializationError as problem:
                refused.append(problem.kafka_message.offset() if problem.kafka_message else None)
                return False
            if message is not None:
                assert message.error() is None
                received.append(message.value())
            return 39 in received

        try:
            consumer.subscribe([topic])
            until(read, "the last record is read")
        finally:
            consumer.close()
    assert len(refused) == len(fired(proxy, UNKNOWN)) > 0
    assert received == [number for number in range(40) if number not in refused]
    assert read_log(cluster.bootstrap, topic) == {0: four_bytes(40)}


@pytest.mark.parametrize("skips", [True, False], ids=["skips", "repeats"])
def test_java_continues_if_the_application_skips_the_record(
    skips: bool, cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, f"unknown-schema-java-{skips}")
    send(cluster.bootstrap, topic, four_bytes(40))
    integers = "org.apache.kafka.common.serialization.IntegerDeserializer"
    with through("unknown-schema", cluster.bootstrap) as proxy:
        own = {"value.deserializer": integers, "bootstrap.servers": proxy.bootstrap}
        settings = {**JAVA, **JAVA_FEW, **own}
        read = java_errors.consume_on(topic, b"39", settings, limit=100 if skips else 3, skip=skips)
    changed = fired(proxy, UNKNOWN)
    assert changed
    assert {*read.problems} == {"RecordDeserializationException"}
    if skips:
        assert len(read.problems) == len(changed)
        assert len(read.offsets) == 40 - len(changed)
        assert read.offsets == sorted({*read.offsets})
        assert [int(value) for value in read.values] == read.offsets
    else:
        assert len(read.problems) == 3
        assert read.offsets == list(range(len(read.offsets)))
