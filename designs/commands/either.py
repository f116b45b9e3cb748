"""A consumer of either design, by the design's name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination import consuming as central
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings as CentralSettings
from barnabas.designs.consumer_rewrite import consuming as rewrite
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings as RewriteSettings
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import Message


async def consume(
    design: str,
    brokers: Sequence[Address],
    group: str,
    name: str,
    topic: str,
    take: Callable[[TopicPartition, int, Message], None],
    say: Callable[[str], None],
    over: asyncio.Event,
    *,
    backoff_ms: int = 100,
) -> None:
    """Consume a topic until it is over, from its smallest offsets where the group has none.

    name: the client's or the consumer's id. Raises UnableError.
    """
    bootstrap = tuple(brokers)
    if design == "rewrite":
        settings = RewriteSettings(
            group, bootstrap, topics=(topic,), client_id=name, backoff_ms=backoff_ms
        )
        await rewrite.consume(settings, take, say, over, [central.QUESTION])
        return
    known = CentralSettings(
        group,
        name,
        bootstrap,
        topic_count=json.dumps({topic: 1}),
        auto_offset_reset="smallest",
        backoff_ms=backoff_ms,
    )
    await central.consume(known, take, say, over, [rewrite.QUESTION])
