"""librdkafka's mock as a target, and requests to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.embedded import EmbeddedService


@pytest.fixture(scope="module")
def target() -> Iterator[BrokerTarget]:
    """One that waits for every answer, however busy the machine is."""
    with BrokerTarget(
        EmbeddedService(), batch=16, connections=4, timeout=60, probe_timeout=60
    ) as running:
        yield running
