"""How late answers to pings may be: the watcher of one expires, and nobody has failed for that."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.designs.brokers.listener import Close, Send
from barnabas.designs.central_coordination.peers.actions import BrokerAction
from barnabas.designs.central_coordination.peers.coordinator import Broker
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.central_coordination.peers.wire import read_request, request, response
from tests.designs.messages import REGISTER

SESSION = 300
"""ms."""

THIRD = SESSION // 3
"""ms from ping to ping; the watcher of one waits for twice as long."""


def patience(failed: int) -> int:
    """ms after which as many pings in a row are lost as make a failure: one more than so many."""
    return 2 * THIRD + failed * THIRD


def pinged(delays: list[int], failed: int) -> tuple[str, int]:
    """A consumer that answers each ping so much later (ms), in order: why it failed; most lost in a row."""
    broker = Broker(1, BrokerSettings(min_session_timeout_ms=SESSION, max_failed_pings=failed))
    broker.elected({}, 0)  # without topics nothing but pings is asked
    broker.connected(1)
    broker.receive(1, request("RegisterConsumer", REGISTER | {"session_timeout_ms": SESSION}), 0)
    consumer = broker.groups["g"].consumers["c"]
    left, answers, lost, now = iter(delays), deque[int](), 0, 0
    while True:
        now += 1
        actions: list[BrokerAction] = []
        while answers and answers[0] == now:
            answers.popleft()
            actions += broker.receive(1, response("Ping"), now)
        actions += broker.tick(now)
        lost = max(lost, consumer.lost_pings)
        for action in actions:
            if isinstance(action, Close):
                return action.reason, lost
            if not isinstance(action, Send):
                continue
            assert read_request(action.data[4:])[0] == "Ping"
            delay = next(left, None)
            if delay is None:
                return "", lost
            answers.append(max(now + delay, answers[-1] if answers else 0))


@pytest.mark.parametrize("failed", range(4))
def test_one_ms_more_and_all_it_forgives_are_lost_in_a_row(failed: int) -> None:
    why, _ = pinged([patience(failed) + 1] * 50, failed)
    assert why == f"{failed + 1} pings were lost"


@example([1] * 50)
@given(st.lists(st.integers(1, 500), max_size=30))
@pytest.mark.parametrize("failed", range(4))
def test_answers_that_are_just_not_too_late_never_fail_a_consumer(
    failed: int, early: list[int]
) -> None:
    why, lost = pinged([max(1, patience(failed) - ms) for ms in early], failed)
    assert why == ""
    assert early != [1] * 50 or lost == failed
