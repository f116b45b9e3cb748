"""A share consumer's acknowledgement does not reach the broker."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import pytest
from confluent_kafka import KafkaException, ShareConsumer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import (
    QUICK,
    SOON,
    fired,
    made_topic,
    numbers,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")


COUNT: Final = 20


@dataclass
class Delivered:
    """What a share consumer lived to see."""

    offsets: list[int] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    """Of each acknowledgement, in order: "", or the error's name."""


def read(bootstrap: str, topic: str, *, commit: bool) -> Delivered:
    """Read until an acknowledgement succeeds; they go with the next fetch, or are committed."""
    found = Delivered()

    def told(_: object, problem: KafkaException | None) -> None:
        found.acknowledged.append("" if problem is None else problem.args[0].name())

    own = {"bootstrap.servers": bootstrap, "group.id": topic, "client.id": "share"}
    with ShareConsumer({**QUICK, **own}) as consumer:
        consumer.set_acknowledgement_commit_callback(told)
        consumer.subscribe([topic])
        deadline = time.monotonic() + SOON
        while "" not in found.acknowledged:
            assert time.monotonic() < deadline, found
            messages = list(consumer.poll(0.2))
            found.offsets += [one.offset() or 0 for one in messages]
            if commit and messages:
                consumer.commit_sync(SOON)
    return found


def from_the_beginning(bootstrap: str, group: str) -> None:
    """Let a share group begin with the oldest records."""
    entry = ConfigEntry(
        "share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET
    )
    about = ConfigResource(ResourceType.GROUP, group, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.incremental_alter_configs([about])[about].result(SOON)


@pytest.mark.parametrize(
    ("commit", "api"), [(False, "ShareFetch"), (True, "ShareAcknowledge")], ids=["fetch", "commit"]
)
def test_the_application_is_told_and_the_records_come_again(
    cluster: ApacheCluster, commit: bool, api: str
) -> None:
    topic = made_topic(cluster.bootstrap, f"share-{api}")
    from_the_beginning(cluster.bootstrap, topic)
    send(cluster.bootstrap, topic, numbers(COUNT))
    with through("share-acknowledgement-lost", cluster.bootstrap) as proxy:
        found = read(proxy.bootstrap, topic, commit=commit)
    lost = fired(proxy, "an acknowledgement is lost")
    assert [(one.api, one.response) for one in lost] == [(api, None)] * 2
    assert found.acknowledged[:2] == ["_TRANSPORT"] * 2
    assert Counter(found.offsets) == dict.fromkeys(range(COUNT), 3)
