"""What clients asked with, in samples of real ones."""

from __future__ import annotations

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients.settings import settings_of
from tests.places import SAMPLES


def of(name: str, client: str) -> list[Exchange]:
    exchanges = open_capture(SAMPLES / name).exchanges()
    return [exchange for exchange in exchanges if exchange.client_id == client]


@pytest.mark.parametrize(
    ("name", "client", "settings"),
    [
        ("transactions.pcapng", "payments", "transaction timeout 60 s, acks all, timeout 30 s"),
        ("kip-848.pcapng", "first", "rebalance 300 s, max wait 0.3 s, isolation read_committed"),
        (
            "rebalance.pcap.gz",
            "first",
            "session 10 s, assignors roundrobin, rebalance 10 s, max wait 0.5 s",
        ),
        ("flapping.pcapng", "adminclient-1", ""),
    ],
)
def test_what_is_said_first_counts(name: str, client: str, settings: str) -> None:
    assert settings_of(of(name, client)) == settings
