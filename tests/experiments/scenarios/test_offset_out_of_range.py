from __future__ import annotations

import pytest

from peers.apache import ApacheCluster
from peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.kafka import (
    JAVA,
    Received,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

RULE = "the offset is not there any more"
VALUES = numbers(30)
FEW = {"fetch.message.max.bytes": 1000, "queued.min.messages": 1}


@pytest.fixture(scope="module")
def topic(cluster: ApacheCluster) -> str:
    name = made_topic(cluster.bootstrap, "out-of-range")
    send(cluster.bootstrap, name, VALUES)
    return name


def test_librdkafka_reads_again_from_the_beginning(cluster: ApacheCluster, topic: str) -> None:
    def read_again(so_far: Received) -> bool:
        return VALUES[-1] in so_far.values

    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        settings = {"group.id": "again", **FEW}
        received = receive(proxy.bootstrap, topic, len(VALUES), settings, done=read_again)
    (refused,) = fired(proxy, RULE)
    assert (refused.api, refused.error) == ("Fetch", "OFFSET_OUT_OF_RANGE")
    assert received.errors == []
    seen = len(received.values) - len(VALUES)
    assert seen > 0
    assert received.values == VALUES[:seen] + VALUES


def test_librdkafka_without_a_policy_says_so(cluster: ApacheCluster, topic: str) -> None:
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        received = receive(
            proxy.bootstrap,
            topic,
            len(VALUES),
            {"group.id": "says so", "auto.offset.reset": "error", **FEW},
            done=lambda so_far: bool(so_far.errors),
        )
    assert received.errors[0] == "_AUTO_OFFSET_RESET"
    assert fired(proxy, RULE) == []  # it had not read anything: the group had no offset


def test_java_reads_again_from_the_beginning(
    cluster: ApacheCluster, java: JavaClient, topic: str
) -> None:
    few = {"max.partition.fetch.bytes": "100", "max.poll.records": "1"}
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        settings = {**JAVA, **few, "bootstrap.servers": proxy.bootstrap}
        received = java.consume(topic, len(VALUES), group="java", settings=settings)
    (refused,) = fired(proxy, RULE)
    assert refused.error == "OFFSET_OUT_OF_RANGE"
    values = [record.value for record in received]
    again = values.index(VALUES[0], 1)
    assert values == VALUES[:again] + VALUES[: len(VALUES) - again]


def test_java_without_a_policy_says_so(
    cluster: ApacheCluster, java: JavaClient, topic: str
) -> None:
    few = {"max.partition.fetch.bytes": "100", "max.poll.records": "1"}
    java.consume(
        topic,
        1,
        group="java none",
        settings={**JAVA, **few, "bootstrap.servers": cluster.bootstrap},
    )
    with through("offset-out-of-range", cluster.bootstrap) as proxy:
        settings = {
            **JAVA,
            **few,
            "bootstrap.servers": proxy.bootstrap,
            "auto.offset.reset": "none",
        }
        with pytest.raises(JavaError, match="OffsetOutOfRangeException"):
            java.consume(topic, len(VALUES), group="java none", settings=settings)
    assert len(fired(proxy, RULE)) == 1
