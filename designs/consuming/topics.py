"""The check whether the topic of a waiting consumer exists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.protocol_guide.client_0_8 import Client

PAUSE: Final = 1.0
"""Seconds between two requests."""

TIMEOUT: Final = 2.0
"""Timeout of a response in seconds."""


async def say_missing(
    brokers: Sequence[Address], client_id: str, topic: str, say: Callable[[str], None]
) -> None:
    """Report a missing topic once.

    The brokers are asked twice, since they may just have learned of it, and repeatedly while they are
    unreachable.
    """
    if await _missing(brokers, client_id, topic):
        await asyncio.sleep(PAUSE)
        if await _missing(brokers, client_id, topic):
            say(f"the brokers have no topic {topic!r}: waits for it")


async def _missing(brokers: Sequence[Address], client_id: str, topic: str) -> bool:
    while True:
        try:
            return await asyncio.to_thread(_lack, brokers, client_id, topic)
        except OSError:
            await asyncio.sleep(PAUSE)


def _lack(brokers: Sequence[Address], client_id: str, topic: str) -> bool:
    """Return whether the brokers lack a topic. Raises OSError."""
    with Client(brokers, client_id=client_id, timeout=TIMEOUT, patience=0) as client:
        return topic not in client.refresh([topic]).partitions
