"""A consumer of central coordination that fetches the partitions that the coordinator assigns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from barnabas.designs.brokers.listener import Log
from barnabas.designs.central_coordination.peers import wire
from barnabas.designs.central_coordination.peers.actions import (
    ConsumerAction,
    StartFetchers,
    StopFetchers,
)
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.designs.central_coordination.states import CONSULTING
from barnabas.designs.consuming.fetcher import Fetcher
from barnabas.designs.consuming.questions import Question, refuse_others
from barnabas.designs.consuming.words import positions_of
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import Message

IDLE: Final = 0.02
"""s between two looks whether there is something to fetch."""

QUESTION: Final = Question(
    "central",
    "ClusterMetadata",
    wire.request("ClusterMetadata"),
    partial(wire.read_response, api="ClusterMetadata"),
)
"""A consumer's first request."""


async def consume(
    settings: ConsumerSettings,
    take: Callable[[TopicPartition, int, Message], None],
    say: Callable[[str], None],
    over: asyncio.Event,
    others: Sequence[Question],
) -> None:
    """Fetch and hand over the records of this consumer's partitions, until it is over.

    A partition's name is its number. The document has no request to leave: a closed connection means a failed
    consumer, and the next owner gets what it consumed since the last rebalance once more. others: first
    requests of other designs' consumers. Raises UnableError.
    """
    reported: set[str] = set()
    """Reported log lines since the last fetch: the consumer tries brokers in turn, repeatedly."""

    def watch(action: ConsumerAction) -> None:
        if isinstance(action, StartFetchers):
            reported.clear()
            start = {(topic, int(name)): offset for (topic, name), offset in action.start.items()}
            say(f"starts to fetch {positions_of(start) or 'nothing'}: the coordinator says so")
        elif isinstance(action, StopFetchers):
            lost = client.core.state == CONSULTING
            say(f"stops to fetch: the coordinator {'is lost' if lost else 'says so'}")
        elif isinstance(action, Log) and action.text not in reported:
            reported.add(action.text)
            say(action.text)

    client = Client(settings, watch)
    fetcher = Fetcher(settings.bootstrap, settings.consumer_id, say)
    client.start()
    looked = False
    try:
        while not over.is_set():
            core = client.core
            if not looked and not core.brokers and core.losses >= len(settings.bootstrap):
                looked = True
                await refuse_others(settings.bootstrap, others)
            starts = client.starts
            positions = {(topic, int(name)): at for (topic, name), at in client.partitions.items()}
            if not positions:
                await asyncio.sleep(IDLE)
                continue
            fetched = await fetcher.round(positions)
            if client.starts != starts or not client.fetching:
                continue  # another consumer has the partition by now
            for (topic, number), got in fetched.items():
                for offset, message in got.messages:
                    take((topic, number), offset, message)
                client.consumed((topic, str(number)), got.following)
    finally:
        if client.fetching:
            say("stops to fetch: it leaves the group")
        await client.stop()
        await fetcher.close()
