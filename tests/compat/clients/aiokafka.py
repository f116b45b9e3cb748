"""aiokafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import chain
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import for_code

from tests.compat.clients import kafka_python
from tests.compat.clients.common import (
    GROWN,
    MADE,
    PARTITIONS,
    PATIENCE,
    RECORDS,
    Asked,
    Record,
    administer,
    by_partition,
    main,
    sent,
)

Call = Callable[[], Coroutine[Any, Any, Any]]


def _settings(asked: Asked, **more: Any) -> dict[str, Any]:
    return {"bootstrap_servers": asked.bootstrap, "client_id": "compat", **more}


def _look(asked: Asked, client: Any) -> None:
    """What metadata told a producer or a consumer."""
    known = (client.client if hasattr(client, "client") else client._client).cluster.brokers()
    asked.addresses.update(f"{one.host}:{one.port}" for one in known)


async def _send(asked: Asked, topic: str, label: str, **settings: Any) -> list[tuple[int, int]]:
    if (0,) < asked.version < (0, 11):  # its own batches are of magic 2, which came with 0.11
        return await asyncio.to_thread(kafka_python.send, asked, topic, label)
    async with AIOKafkaProducer(**_settings(asked, **settings)) as producer:
        async with asyncio.timeout(PATIENCE):
            while len(await producer.partitions_for(topic)) < PARTITIONS:
                await asyncio.sleep(0.1)
        waiting = [
            await producer.send(topic, value, key, partition=partition)
            for partition, key, value in sent(label)
        ]
        async with asyncio.timeout(PATIENCE):
            found = [await one for one in waiting]
        _look(asked, producer)
    return [(one.partition, one.offset) for one in found]


async def produce(asked: Asked) -> dict[str, Any]:
    """Offsets by partition, of each compression."""
    return {
        name: by_partition(
            await _send(
                asked,
                f"{asked.name}-{name}",
                "p",
                compression_type=None if name == "none" else name,
                acks="all",
            )
        )
        for name in asked.compressions()
    }


def _consumer(asked: Asked, group: str, **more: Any) -> AIOKafkaConsumer:
    settings = {
        "group_id": group,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        # the embedded cluster ends a rebalance 1 s before a session would time out
        "session_timeout_ms": 1200 if asked.embedded else 6000,
        "heartbeat_interval_ms": 300,
        "fetch_max_wait_ms": 100,
        **more,
    }
    return AIOKafkaConsumer(asked.name, **_settings(asked, **settings))


async def _read(consumer: AIOKafkaConsumer, wanted: int) -> list[Record]:
    found: list[Record] = []
    try:
        async with asyncio.timeout(PATIENCE):
            while len(found) < wanted:
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    for one in records:
                        key = None if one.key is None else one.key.decode()
                        found.append((one.partition, one.offset, key, one.value.decode()))
    except TimeoutError:
        raise TimeoutError(f"{len(found)} of {wanted} records in {PATIENCE:g} s") from None
    return sorted(found)


async def consume_in_group(asked: Asked) -> dict[str, Any]:
    """What a group reads, and what the next member reads after the commit."""
    found = {}
    for label in ("first", "second"):
        await _send(asked, asked.name, label)
        async with _consumer(asked, asked.name) as consumer:
            found[label] = await _read(consumer, RECORDS)
            await consumer.commit()
            _look(asked, consumer)
    return found


def _owned(consumer: AIOKafkaConsumer) -> list[int]:
    return sorted(one.partition for one in consumer.assignment())


async def _until(ready: Callable[[], bool], what: Callable[[], str]) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not ready():
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise TimeoutError(f"after {PATIENCE:g} s: {what()}") from None


async def rebalance(asked: Asked) -> dict[str, Any]:
    """Who owns what."""
    await _send(asked, asked.name, "r")
    everything = list(range(PARTITIONS))
    async with _consumer(asked, asked.name) as first:
        await _until(lambda: _owned(first) == everything, lambda: f"it owns {_owned(first)}")
        async with _consumer(asked, asked.name) as second:

            def both() -> list[list[int]]:
                return sorted([_owned(first), _owned(second)])

            await _until(
                lambda: all(both()) and sorted(chain(*both())) == everything,
                lambda: f"two members own {both()}",
            )
            two = both()
        await _until(lambda: _owned(first) == everything, lambda: f"it owns {_owned(first)}")
    return {"alone": [everything], "two": two, "left": [everything]}


async def transact(asked: Asked) -> dict[str, Any]:
    """What is seen of a transaction that was aborted, and of one that was committed with offsets."""
    topic = asked.name
    await _send(asked, topic, "plain")
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    async with (
        _consumer(asked, asked.name) as source,
        AIOKafkaProducer(**_settings(asked, transactional_id=asked.name)) as producer,
    ):
        await _read(source, RECORDS)
        for label in ("aborted", "committed"):
            await producer.begin_transaction()
            waiting = [
                await producer.send(topic, value, key, partition=partition)
                for partition, key, value in sent(label)
            ]
            for one in waiting:
                await one
            if label == "aborted":
                await producer.abort_transaction()
            else:
                positions = {one: await source.position(one) for one in partitions}
                await producer.send_offsets_to_transaction(positions, asked.name)
                await producer.commit_transaction()
        # the group's coordinator learns a moment later that the transaction was committed
        offsets: dict[str, int | None] = {"": None}
        async with asyncio.timeout(PATIENCE):
            while None in offsets.values():
                offsets = {str(one.partition): await source.committed(one) for one in partitions}
        _look(asked, producer)
    return {
        "offsets": offsets,
        "committed": await _seen(asked, "read_committed", 2 * RECORDS),
        "uncommitted": await _seen(asked, "read_uncommitted", 3 * RECORDS),
    }


async def _seen(asked: Asked, isolation: str, wanted: int) -> list[Record]:
    group = f"{asked.name}-{isolation}"
    async with _consumer(asked, group, isolation_level=isolation) as consumer:
        return await _read(consumer, wanted)


async def admin(asked: Asked) -> dict[str, Any]:
    """What admin calls give."""
    topic = f"{asked.name}-made"
    await _send(asked, asked.name, "a")
    client = AIOKafkaAdminClient(**_settings(asked))
    await client.start()
    loop = asyncio.get_running_loop()

    async def nodes() -> int:
        found = (await client.describe_cluster())["brokers"]
        asked.addresses.update(f"{one['host']}:{one['port']}" for one in found)
        return len(found)

    async def create() -> None:
        answer = await client.create_topics([NewTopic(topic, MADE, 1)], timeout_ms=10_000)
        _raise(answer.topic_errors[0][1])

    async def described(count: int) -> list[list[int]]:
        found: list[list[int]] = []
        async with asyncio.timeout(PATIENCE):
            while len(found) != count:
                await asyncio.sleep(0.1)
                known = (await client.describe_topics([topic]))[0]["partitions"]
                found = sorted([one["partition"], len(one["replicas"])] for one in known)
        return found

    async def more() -> None:
        await client.create_partitions({topic: NewPartitions(GROWN)})

    async def cluster() -> bool:
        found = await client.describe_cluster()
        return found["controller_id"] in [one["node_id"] for one in found["brokers"]]

    async def configs() -> Any:
        wanted = ConfigResource(ConfigResourceType.TOPIC, topic)
        found = (await client.describe_configs([wanted]))[0].to_object()["resources"][0]
        values = {one["config_names"]: one["config_value"] for one in found["config_entries"]}
        return values["cleanup.policy"]

    async def delete() -> None:
        _raise((await client.delete_topics([topic], timeout_ms=10_000)).topic_error_codes[0][1])

    async def commit() -> None:
        consumer = AIOKafkaConsumer(
            **_settings(asked, group_id=asked.name, enable_auto_commit=False)
        )
        async with consumer:
            consumer.assign([TopicPartition(asked.name, 0)])
            await consumer.commit({TopicPartition(asked.name, 0): 7})

    async def groups() -> bool:
        return asked.name in [one[0] for one in await client.list_consumer_groups()]

    async def group() -> list[Any]:
        found = (await client.describe_consumer_groups([asked.name]))[0].to_object()["groups"][0]
        return [found["state"], len(found["members"])]

    async def offsets() -> list[list[int]]:
        partitions = [TopicPartition(asked.name, 0)]
        found = await client.list_consumer_group_offsets(asked.name, partitions=partitions)
        return [[one.partition, offset.offset] for one, offset in found.items()]

    calls: dict[str, Call] = {
        "nodes": nodes,
        "create": create,
        "described": lambda: described(MADE),
        "more": more,
        "grown": lambda: described(GROWN),
        "cluster": cluster,
        "configs": configs,
        "delete": delete,
        "commit": commit,
        "groups": groups,
        "group": group,
        "offsets": offsets,
    }

    def here(call: Call) -> Callable[[], Any]:
        """The call, for a thread that waits for it."""
        return lambda: asyncio.run_coroutine_threadsafe(call(), loop).result(PATIENCE)

    try:
        plain = {name: here(call) for name, call in calls.items()}
        return await asyncio.to_thread(administer, asked, plain)
    finally:
        await client.close()


def _raise(code: int) -> None:
    if code:
        raise for_code(code)


if __name__ == "__main__":
    main(produce, consume_in_group, rebalance, transact, admin)
