"""A consumer of the rewrite that fetches its partitions in turn, as in the document's poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final

from barnabas.designs.brokers.listener import now_ms
from barnabas.designs.consumer_rewrite.peers import wire
from barnabas.designs.consumer_rewrite.peers.actions import Consume, ConsumerAction, Halt
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.states import DISCOVER, PART_OF_GROUP, STOPPED
from barnabas.designs.consuming.fetcher import FetchedRecords, Fetcher
from barnabas.designs.consuming.questions import Question, UnableError, refuse_others
from barnabas.designs.consuming.words import positions_of
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import Message

POLL: Final = 0.05
"""Seconds of a poll without anything to fetch, and between two while leaders are asked."""

COMMIT: Final = 1_000
"""Milliseconds between two commits of consumed offsets."""

LAST: Final = 0.5
"""Timeout of the last commit's response in seconds."""

SURE: Final = 3_000
"""ms after which a coordinator is believed to be there: brokers name one that is dead for a while."""

WHY: Final = {
    STOPPED: "the coordinator rebalances the group",
    DISCOVER: "the coordinator does not know this consumer",
}

QUESTION: Final = Question(
    "rewrite",
    "ConsumerMetadata",
    wire.request("ConsumerMetadata", 0, "", {"group_id": ""}),
    partial(wire.read_response, api="ConsumerMetadata"),
)
"""A consumer's first request."""


async def consume(
    settings: ConsumerSettings,
    take: Callable[[TopicPartition, int, Message], None],
    say: Callable[[str], None],
    over: asyncio.Event,
    others: Sequence[Question],
) -> None:
    """Fetch and hand over the records of this consumer's partitions, until it is over; then commit and leave.

    others: first requests of other designs' consumers. Raises UnableError.
    """
    committed = now_ms()

    def watch(action: ConsumerAction) -> None:
        core = client.core
        if isinstance(action, Consume):
            who = f"generation {action.generation}, {core.consumer_id}"
            say(f"starts to fetch {positions_of(action.start)}: {who}")
        elif isinstance(action, Halt):
            say(f"stops to fetch: {WHY.get(core.state, 'it leaves the group')}")

    def commit() -> None:
        nonlocal committed
        if now_ms() >= committed + COMMIT:
            client.commit()
            committed = now_ms()

    async def meanwhile(
        fetches: Coroutine[Any, Any, dict[TopicPartition, FetchedRecords]],
    ) -> dict[TopicPartition, FetchedRecords]:
        """Await fetches, and keep committing, heartbeating and searching the coordinator meanwhile."""
        task = asyncio.create_task(fetches)
        try:
            while not (await asyncio.wait({task}, timeout=POLL))[0]:
                commit()
                await client.poll(0)
            return task.result()
        finally:
            task.cancel()

    client = Client(settings, watch)
    fetcher = Fetcher(settings.bootstrap, settings.client_id, say)
    client.start()
    losses, lost, since = 0, False, 0
    generation = -1
    try:
        while not over.is_set():
            await client.poll(0 if client.partitions else POLL)
            if client.core.failure is not None:
                raise UnableError(f"the coordinator refuses this consumer: {client.core.failure}")
            if client.core.generation != generation:
                generation = client.core.generation
                if not client.core.owns:
                    say(f"has nothing to fetch in generation {generation}")
            if client.core.losses != losses:
                losses, since = client.core.losses, now_ms()
                if not lost and client.generation >= 0:
                    say("the coordinator is lost: looks for another one, and fetches on")
                if losses == len(settings.bootstrap) and generation < 0:
                    await refuse_others(settings.bootstrap, others)
                    say("no broker of the rewrite answers: tries on")
                lost = client.generation >= 0
            elif lost and client.core.state == PART_OF_GROUP and now_ms() >= since + SURE:
                lost = False
                say("the coordinator is there again")
            if not client.partitions:
                continue
            starts = len(client.history)
            fetched = await meanwhile(fetcher.round(dict(client.partitions)))
            if len(client.history) != starts or not client.partitions:
                continue  # another consumer has the partition by now
            for partition, records in fetched.items():
                for offset, message in records.messages:
                    take(partition, offset, message)
                client.consumed(partition, records.following)
            commit()
        client.commit()
        await client.poll(LAST)
    finally:
        await client.stop()
        await fetcher.close()
