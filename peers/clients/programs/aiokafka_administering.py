"""The workload of aiokafka's administrator."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import for_code
from work import GaveUpError, Work

logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


async def admin(work: Work) -> int:
    """Make topics, change them, and delete them, each seen before the next step."""
    client = AIOKafkaAdminClient(bootstrap_servers=work.bootstrap, client_id="admin")
    try:
        await client.start()
        for number in range(work.rounds):
            await _round(work, client, f"{work.topic}-admin-{number}")
    finally:
        await client.close()
    return 0


async def _round(work: Work, client: Any, topic: str) -> None:
    async def partitions() -> int:
        # not of this topic alone: brokers would make it
        found = {one["topic"]: one for one in await client.describe_topics()}
        return len(found[topic]["partitions"]) if topic in found else 0

    async def has(wanted: int) -> bool:
        return await partitions() == wanted

    _check((await client.create_topics([NewTopic(topic, 2, 1)])).topic_errors)
    await _shown(work, f"{topic} with 2 partitions", lambda: has(2))
    await client.create_partitions({topic: NewPartitions(3)})
    await _shown(work, f"{topic} with 3 partitions", lambda: has(3))
    changed = {"retention.ms": "3600000"}
    for each in await client.alter_configs(
        [ConfigResource(ConfigResourceType.TOPIC, topic, changed)]
    ):
        _check([(name, code) for code, _, _, name in each.resources])

    async def kept() -> bool:
        about = ConfigResource(ConfigResourceType.TOPIC, topic)
        (found,) = await client.describe_configs([about])
        entries = {entry[0]: entry[1] for entry in found.resources[0][4]}
        return entries.get("retention.ms") == "3600000"

    await _shown(work, f"retention.ms of {topic}", kept)
    _check((await client.delete_topics([topic])).topic_error_codes)
    await _shown(work, f"{topic} gone", lambda: has(0))


def _check(answers: list[Any]) -> None:
    """Raise the errors of answers, which begin with a name and a code."""
    for name, code, *_ in answers:
        if code:
            raise for_code(code)(name)


async def _shown(work: Work, what: str, look: Callable[[], Awaitable[bool]]) -> None:
    """As `Work.shown`."""
    until = work.until
    while not await look():
        if time.monotonic() > until:
            raise GaveUpError(f"{what} is not to be seen")
        await asyncio.sleep(0.05)
