"""Share consumers of confluent-kafka, for scenarios about share groups."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import KafkaException, ShareConsumer

from tests.experiments.scenarios.groups import configure_group
from tests.experiments.scenarios.kafka import QUICK, made_topic, numbers, send
from tests.waiting import SOON

COUNT: Final = 20


@dataclass
class Delivered:
    """What a share consumer lived to see."""

    offsets: list[int] = field(default_factory=list)
    """Of each record, as often as it came."""
    acknowledged: list[str] = field(default_factory=list)
    """Of each acknowledgement, in order: "", or the error's name."""


def acknowledged(delivered: Delivered) -> bool:
    """Return whether an acknowledgement has succeeded."""
    return "" in delivered.acknowledged


def read(
    bootstrap: str,
    topic: str,
    *,
    commit: bool,
    done: Callable[[Delivered], bool] = acknowledged,
) -> Delivered:
    """Read until `done`; acknowledgements go with the next fetch, or are committed."""
    found = Delivered()

    def told(_: object, problem: KafkaException | None) -> None:
        found.acknowledged.append("" if problem is None else problem.args[0].name())

    own = {"bootstrap.servers": bootstrap, "group.id": topic, "client.id": "share"}
    with ShareConsumer({**QUICK, **own}) as consumer:
        consumer.set_acknowledgement_commit_callback(told)
        consumer.subscribe([topic])
        deadline = time.monotonic() + SOON
        while not done(found):
            assert time.monotonic() < deadline, found
            messages = list(consumer.poll(0.2))
            found.offsets += [one.offset() or 0 for one in messages]
            if commit and messages:
                consumer.commit_sync(SOON)
    return found


def shared_topic(bootstrap: str, name: str) -> str:
    """A topic with COUNT records, which the share group of its name reads from the beginning.

    What it does not acknowledge in 1 s is free for others.
    """
    topic = made_topic(bootstrap, name)
    configure_group(
        bootstrap,
        topic,
        {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "1000"},
    )
    send(bootstrap, topic, numbers(COUNT))
    return topic
