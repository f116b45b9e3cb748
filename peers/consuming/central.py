"""A consumer of central coordination that fetches what the coordinator has told it to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from barnabas.peers.central_coordination.actions import (
    ConsumerAction,
    Log,
    StartFetchers,
    StopFetchers,
)
from barnabas.peers.central_coordination.client import Client
from barnabas.peers.central_coordination.settings import ConsumerSettings
from barnabas.peers.client_0_8 import Message
from barnabas.peers.consuming.designs import REWRITE, refuse_others
from barnabas.peers.consuming.fetcher import Fetcher
from barnabas.peers.consuming.words import positions_of
from barnabas.peers.leaders import Place
from barnabas.specs.drafts.central_states import CONSULTING

IDLE: Final = 0.02
"""s between two looks whether there is something to fetch."""


async def consume(
    settings: ConsumerSettings,
    take: Callable[[Place, int, Message], None],
    say: Callable[[str], None],
    over: asyncio.Event,
) -> None:
    """Fetch and hand over what the coordinator gives this consumer, until it is over.

    A partition's name is its number. The document has no goodbye: a connection that is closed is a consumer
    that has failed, and what it consumed since the last rebalance comes once more to who has it next.
    Raises UnableError.
    """

    said: set[str] = set()
    """What its log had since it fetched: it tries one broker behind the other, again and again."""

    def watch(action: ConsumerAction) -> None:
        if isinstance(action, StartFetchers):
            said.clear()
            start = {(topic, int(name)): offset for (topic, name), offset in action.start.items()}
            say(f"starts to fetch {positions_of(start) or 'nothing'}: the coordinator says so")
        elif isinstance(action, StopFetchers):
            lost = client.core.state == CONSULTING
            say(f"stops to fetch: the coordinator {'is lost' if lost else 'says so'}")
        elif isinstance(action, Log) and action.text not in said:
            said.add(action.text)
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
                await refuse_others(settings.bootstrap, REWRITE)
            starts = client.starts
            positions = {(topic, int(name)): at for (topic, name), at in client.partitions.items()}
            if not positions:
                await asyncio.sleep(IDLE)
                continue
            found = await fetcher.round(positions)
            if client.starts != starts or not client.fetching:
                continue  # it is somebody else's by now
            for (topic, number), got in found.items():
                for offset, message in got.messages:
                    take((topic, number), offset, message)
                client.consumed((topic, str(number)), got.following)
    finally:
        if client.fetching:
            say("stops to fetch: it leaves the group")
        await client.stop()
        await fetcher.close()
