"""Two brokers of 0.8.2.2, shared by the tests that want them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from peers.apache import ApacheCluster, UnavailableError

LARGEST = 10_000
"""Bytes of the largest message that the brokers take."""


@pytest.fixture(scope="package")
def kafka_0_8() -> Iterator[ApacheCluster]:
    """Topics are made when they are first named, on both brokers."""
    limits = {"message.max.bytes": str(LARGEST), "replica.fetch.max.bytes": str(2 * LARGEST)}
    try:
        with ApacheCluster("0.8.2.2", 2, settings=limits) as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))
