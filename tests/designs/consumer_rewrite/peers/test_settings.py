"""The document's options, by its names; and what a configuration can't be."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings, ConsumerSettings
from barnabas.designs.options import from_options

BROKER = ("h", 1)


def test_a_consumer_by_the_documents_names() -> None:
    options = {
        "bootstrap.brokers": "one:1,two:2",
        "session.timeout.ms": "3000",
        "heartbeat.frequency": 5,
    }
    made = from_options(ConsumerSettings, options, group_id="g", topics=("t",))
    assert made.bootstrap == (("one", 1), ("two", 2))
    assert (made.session_timeout_ms, made.heartbeat_interval_ms) == (3_000, 600)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"session_timeout_ms": 0}, "session.timeout.ms of 0: 1 to 2147483647"),
        ({"session_timeout_ms": 1 << 31}, "session.timeout.ms of 2147483648: 1 to 2147483647"),
        ({"heartbeat_frequency": 0}, "heartbeat.frequency of 0: 1 to 6000"),
        ({"heartbeat_frequency": 6_001}, "heartbeat.frequency of 6001: 1 to 6000"),
        ({"bootstrap": ()}, "no broker"),
        ({"pattern": "("}, "the pattern '[(]'"),
        ({"blacklist": "("}, "the blacklist '[(]'"),
    ],
)
def test_what_a_consumer_can_not_have(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        ConsumerSettings(**({"group_id": "g", "bootstrap": (BROKER,)} | wrong))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"max_session_timeout_ms": 0}, "max.session.timeout of 0: at least 1"),
        ({"strategies": {}}, "partition.assignment.strategies: there is none"),
        ({"slots": 0}, "0 slots"),
    ],
)
def test_what_a_broker_can_not_have(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        BrokerSettings(**wrong)
