"""A consumer alone: what it does and says when brokers can't be reached, or refuse it."""

from __future__ import annotations

from barnabas.designs.brokers.listener import Log
from barnabas.designs.central_coordination.peers.actions import ConsumerAction
from barnabas.designs.central_coordination.peers.consumer import Consumer
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.designs.central_coordination.peers.wire import response
from barnabas.designs.consuming.dialer import Connect
from tests.designs.messages import CLUSTER


def consumer() -> Consumer:
    return Consumer(ConsumerSettings("g", "c", (("a", 1), ("b", 2)), backoff_ms=10))


def said(actions: list[ConsumerAction]) -> list[str]:
    return [action.text for action in actions if isinstance(action, Log)]


def test_known_brokers_are_tried_in_turn_for_ever_and_each_failure_is_logged() -> None:
    one = consumer()
    actions = one.start(0)
    for now in (10, 20, 30, 40):
        actions += one.lost(now - 10)
        actions += one.tick(now)
    tried = [action.address[0] for action in actions if isinstance(action, Connect)]
    assert tried == ["a", "b", "a", "b", "a"]
    a, b = "c: a:1: no connection can be made", "c: b:2: no connection can be made"
    assert said(actions) == [a, b, "c: AllKnownBrokersNotAvailable"] * 2


def test_what_was_told_of_the_cluster_is_kept() -> None:
    one = consumer()
    one.start(0)
    one.connected(0)
    one.receive(response("ClusterMetadata", body=CLUSTER), 1)
    assert (one.brokers, one.coordinator_id) == ({1: ("h", 1)}, 1)
    one.lost(1)
    one.tick(11)
    one.connected(11)
    assert said(one.receive(response("ClusterMetadata", "Unknown"), 12)) == [
        "c: b:2 knows no coordinator: Unknown"
    ]
    assert (one.brokers, one.coordinator_id) == ({1: ("h", 1)}, 1)


def test_a_refusal_is_logged() -> None:
    one = consumer()
    one.start(0)
    one.connected(0)
    one.receive(response("ClusterMetadata", body=CLUSTER), 1)
    one.connected(1)
    (line,) = said(one.receive(response("RegisterConsumer", "DuplicateConsumerId"), 2))
    assert line == "c: the registration is refused: DuplicateConsumerId"
