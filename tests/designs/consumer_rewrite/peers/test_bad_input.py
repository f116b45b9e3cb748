"""Requests that are too large, or too many; what the fuzzer sends is in tests/designs/test_fuzzed.py."""

from __future__ import annotations

import pytest

from barnabas.designs.brokers.listener import Close
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.wire import request
from tests.designs.messages import JOIN

METADATA = request("Metadata", 5, "c", {"topics": []})


@pytest.fixture
def broker() -> Broker:
    one = Broker(1, BrokerSettings(slots=1), new_id=lambda: "x")
    one.topics({"t": 2}, 0)
    one.elected(0)
    one.loaded(0, {}, 0)
    one.connected(1)
    return one


def test_a_connection_that_sends_on_while_its_join_waits_is_closed_at_last(broker: Broker) -> None:
    broker.receive(1, request("JoinGroup", 1, "c", JOIN), 0)
    actions = []
    for _ in range(8 << 20 >> 16):
        actions += broker.receive(1, METADATA * ((1 << 16) // len(METADATA)), 0)
    assert any(isinstance(action, Close) for action in actions)


def test_many_requests_at_once_need_no_stack(broker: Broker) -> None:
    assert len(broker.receive(1, METADATA * 5_000, 0)) == 5_000
