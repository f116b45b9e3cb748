"""A static member restarts, and the coordinator does not know that it left."""

from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.groups import CONSUMER
from tests.experiments.scenarios.kafka import (
    JAVA,
    Received,
    configure_group,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

BEFORE, AFTER = numbers(10), numbers(10, 10)
STATIC = {"group.instance.id": "static"}


def test_confluent_kafka_comes_back_when_the_old_session_is_over(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "static-member")
    configure_group(cluster.bootstrap, topic, {"consumer.session.timeout.ms": "3000"})
    send(cluster.bootstrap, topic, BEFORE)
    with through("static-member-unreleased", cluster.bootstrap) as proxy:

        def member() -> Received:
            return receive(
                proxy.bootstrap,
                topic,
                len(BEFORE),
                {**CONSUMER, **STATIC},
                done=lambda found: bool(found.errors) or len(found.values) == len(BEFORE),
            )

        first = member()
        send(cluster.bootstrap, topic, AFTER)
        tries = [member()]
        while tries[-1].errors:
            tries.append(member())
    (lost,) = fired(proxy, "nobody hears that it leaves")
    assert lost.request is not None
    assert (lost.request["member_epoch"], lost.response) == (-2, None)
    refused = [one for one in proxy.exchanges if one.error == "UNRELEASED_INSTANCE_ID"]
    assert len(refused) == len(tries) - 1 >= 1
    assert first.values == BEFORE
    assert [one.values for one in tries] == [*[[]] * len(refused), AFTER]
    assert {error for one in tries for error in one.errors} == {"_FATAL"}


def test_java_is_told(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "static-member-java")
    send(cluster.bootstrap, topic, BEFORE)
    with through("static-member-unreleased", cluster.bootstrap) as proxy:
        settings = {**JAVA, **STATIC, "bootstrap.servers": proxy.bootstrap}
        consumer = {**settings, "group.protocol": "consumer"}
        assert len(java.consume(topic, len(BEFORE), group=topic, settings=consumer)) == len(BEFORE)
        with pytest.raises(JavaError, match="UnreleasedInstanceIdException"):
            java.consume(topic, len(AFTER), group=topic, settings=consumer)
    assert len(fired(proxy, "nobody hears that it leaves")) == 1
