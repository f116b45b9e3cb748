"""Captures of real clients that were refused, retried and gave up waiting, and what the checks find there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from barnabas.captures.checks.running import run
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from tests.captures.checks.given import checks_named

DATA = Path(__file__).parent / "data"
OF_PRODUCERS = checks_named(
    "responses", "correlation_ids", "backoff", "sequences", "order", "corrupt_records"
)


@pytest.mark.parametrize(
    ("name", "exchanges", "findings"),
    [
        # Java's transactional producer against 4.3.1: a batch is refused with CONCURRENT_TRANSACTIONS and
        # those in flight behind it with OUT_OF_ORDER_SEQUENCE_NUMBER; all are sent again, in order
        ("refused-transactional.pcapng.gz", 34, {}),
        # Java's producer without idempotence, five requests in flight, some refused by a rule of the proxy
        ("reordered.pcapng.gz", 49, {"order": 2}),
        # librdkafka closes a connection when the acknowledgement comes, and sends the batch on another
        ("retried-elsewhere.pcapng.gz", 7, {}),
        # librdkafka sends a batch six times on one connection, each of which the broker acknowledges
        ("repeated.pcapng.gz", 11, {"sequences": 5}),
    ],
)
def test_findings(name: str, exchanges: int, findings: dict[str, int]) -> None:
    seen = list(Conversations(strays=True).exchanges(CaptureReader(DATA / name)))
    assert len(seen) == exchanges
    assert Counter(check.name for check, _ in run(seen, OF_PRODUCERS)) == findings
