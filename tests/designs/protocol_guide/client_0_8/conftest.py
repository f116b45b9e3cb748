"""Two brokers of 0.8.2.2, shared by the tests that want them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.peers.apache import ApacheCluster, UnavailableError

LARGEST = 10_000
"""Bytes of the largest message that the brokers take."""

LARGEST_REQUEST = 100_000
"""Bytes of the largest request, without its size."""

SEGMENT = 20_000
"""Bytes of a log's segment, at most."""


@pytest.fixture(scope="package")
def kafka_0_8() -> Iterator[ApacheCluster]:
    """Topics are made when they are first named, on both brokers."""
    limits = {
        "message.max.bytes": LARGEST,
        "replica.fetch.max.bytes": 2 * LARGEST,
        "socket.request.max.bytes": LARGEST_REQUEST,
        "log.segment.bytes": SEGMENT,
    }
    settings = {name: str(limit) for name, limit in limits.items()}
    try:
        with ApacheCluster("0.8.2.2", 2, settings=settings) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))
