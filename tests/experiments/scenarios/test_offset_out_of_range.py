from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    at_once,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
    until,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

RULE = "the offset is not there any more"
VALUES = numbers(60)


def refused(proxy: Harness) -> None:
    (exchange,) = fired(proxy, RULE)
    assert (exchange.api, exchange.error) == ("Fetch", "OFFSET_OUT_OF_RANGE")


def send_to_reader(cluster: ApacheCluster, proxy: Harness, topic: str) -> None:
    """One record after the other, so that each is read before the next one comes."""
    until(lambda: any(one.api == "Fetch" for one in proxy.exchanges), "somebody reads")
    send(cluster.bootstrap, topic, VALUES, seconds=1)


def twice_up_to_some_record(values: list[bytes]) -> bool:
    """Whether these are the beginning, and then everything."""
    again = len(values) - len(VALUES)
    return 0 < again < len(VALUES) and values == VALUES[:again] + VALUES


def test_librdkafka_reads_again_from_the_beginning(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-range")
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send_to_reader(cluster, proxy, topic),
            lambda: receive(
                proxy.bootstrap,
                topic,
                len(VALUES),
                FEW,
                done=lambda so_far: VALUES[-1] in so_far.values,
            ),
        )
    refused(proxy)
    assert received.errors == []
    assert twice_up_to_some_record(received.values)


def test_librdkafka_without_a_policy_says_so(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-range-error")
    group = {"group.id": topic, "auto.offset.reset": "error"}
    committing = Consumer({"bootstrap.servers": cluster.bootstrap, **group})
    committing.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    committing.close()
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send_to_reader(cluster, proxy, topic),
            lambda: receive(
                proxy.bootstrap,
                topic,
                len(VALUES),
                group | FEW,
                done=lambda so_far: bool(so_far.errors),
            ),
        )
    refused(proxy)
    assert received.errors == ["_AUTO_OFFSET_RESET"]
    assert received.values == VALUES[: len(received.values)]


def test_java_reads_again_from_the_beginning(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-range-java")
    send(cluster.bootstrap, topic, VALUES)
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        received = java.consume(topic, len(VALUES) + 10, group=topic, settings=settings)
    refused(proxy)
    assert twice_up_to_some_record([record.value or b"" for record in received])


def test_java_without_a_policy_says_so(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-range-none")
    send(cluster.bootstrap, topic, VALUES)
    direct = {**JAVA, **JAVA_FEW, "bootstrap.servers": cluster.bootstrap}
    java.consume(topic, 1, group=topic, settings=direct)  # so that it has an offset
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "auto.offset.reset": "none"}
        with pytest.raises(JavaError, match="out of range"):
            java.consume(topic, len(VALUES), group=topic, settings={**direct, **own})
    refused(proxy)
