from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.peers.embedded import EmbeddedCluster


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """An embedded cluster of one broker."""
    with EmbeddedCluster(1) as cluster:
        yield cluster.bootstrap
