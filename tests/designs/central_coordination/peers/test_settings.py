"""The document's options, by its names; and what a configuration can't be."""

from __future__ import annotations

from dataclasses import fields

import pytest

from barnabas.designs.central_coordination.peers.settings import BrokerSettings, ConsumerSettings


def test_options_have_the_documents_names() -> None:
    assert [one.metadata["option"] for one in fields(BrokerSettings) if one.metadata] == [
        "Rebalancing threadpool size",
        "Socket server threadpool size",
        "Minimum viable value for consumer session timeout",
        "Maximum number of timed out heartbeats to consumers",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rebalance_threads", 0),
        ("min_session_timeout_ms", 2),  # it would be pinged without end
        ("max_failed_pings", -1),
        ("rebalance_retries", -1),
    ],
)
def test_what_a_broker_can_not_have(name: str, value: int) -> None:
    with pytest.raises(ValueError, match="rebalance" if "rebalance" in name else name):
        BrokerSettings(**{name: value})
    BrokerSettings(**{name: value + 1})


def test_a_consumer_knows_a_broker() -> None:
    with pytest.raises(ValueError, match="no broker"):
        ConsumerSettings("g", "c", ())
