"""Topics that a broker creates when a client asks for their metadata."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from barnabas.designs.leaders import Address
from barnabas.designs.protocol_guide.client_0_8.client import Client

PATIENCE: Final = 120.0
"""Timeout of a topic without leaders in seconds."""


def make_topic(brokers: Iterable[Address], topic: str) -> None:
    """Create a topic, and wait until each partition has a leader. Raises TimeoutError."""
    until = time.monotonic() + PATIENCE
    with Client(brokers, patience=0) as client:
        while topic not in (metadata := client.refresh([topic])).partitions or metadata.errors:
            if time.monotonic() > until:
                raise TimeoutError(f"{topic} has no leaders")
            time.sleep(0.1)
