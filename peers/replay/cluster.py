"""The live cluster as a client knows it: its brokers, versions, leaders and coordinators."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Iterable
from typing import Any, Final

from barnabas.peers.replay.connection import Address, ConnectionLost, Dial, LiveConnection
from barnabas.peers.replay.routing import Coordinator
from barnabas.peers.replay.versions import NotReplayable, prune, version_for
from barnabas.specs.keys import API_VERSIONS, FIND_COORDINATOR, METADATA
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

NEWEST: Final = {API_VERSIONS: 0, METADATA: 12, FIND_COORDINATOR: 3}
"""The highest version to use, by API key, since more is not needed."""

CLIENT_ID: Final = "barnabas-replay"

PAUSE: Final = 0.1
"""Seconds between two requests for a leader or coordinator that is missing yet."""

PATIENCE: Final = 30.0
"""Timeout of a response, and of a search for a coordinator, in seconds."""

LEADERLESS: Final = 5.0
"""Seconds without a leader after which a partition counts as leaderless."""


class Unreachable(ConnectionError):
    """No bootstrap server responds, or no broker is the requested coordinator or leader."""


class LiveCluster:
    """A client's view of the live cluster: brokers, versions, leaders and coordinators."""

    def __init__(self, bootstrap: Iterable[Address], dial: Dial) -> None:
        self.nodes: dict[int, Address] = {}
        self.offered: dict[int, tuple[int, int]] = {}
        """API key -> the versions that the cluster takes."""
        self._bootstrap = list(bootstrap)
        self.dial = dial
        self._connection: LiveConnection | None = None
        self._leaders: dict[tuple[str | uuid.UUID, int], int] = {}
        self._coordinators: dict[Coordinator, int] = {}
        self._given_up: set[str | uuid.UUID] = set()

    async def start(self) -> None:
        """Connect to a bootstrap server and fetch versions and brokers. Raises Unreachable."""
        problems = []
        for address in self._bootstrap:
            try:
                self._connection = await self.dial(address)
                response = await self._ask(API_VERSIONS, {})
                self.offered = {
                    api_range["api_key"]: (api_range["min_version"], api_range["max_version"])
                    for api_range in response["api_keys"]
                }
                await self._refresh(())
            except (OSError, Malformed, NotReplayable) as problem:
                problems.append(
                    f"{address[0]}:{address[1]}: {str(problem) or type(problem).__name__}"
                )
                await self.stop()
                continue
            if self.nodes:
                return
        raise Unreachable("; ".join(problems) or "the cluster names no brokers")

    async def stop(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()

    def node_for(self, recorded: int | None) -> int:
        """Return the live broker for a recorded one: the broker with its id, else one of the others."""
        if recorded in self.nodes:
            return recorded
        nodes = sorted(self.nodes)
        return nodes[(recorded or 0) % len(nodes)]

    async def leaders(self, partitions: Collection[tuple[str | uuid.UUID, int]]) -> dict[Any, int]:
        """Return the leaders of these partitions; partitions without a leader are omitted."""
        deadline = asyncio.get_running_loop().time() + min(PATIENCE, LEADERLESS)
        while True:
            missing = {
                topic for topic, number in partitions if (topic, number) not in self._leaders
            }
            if not missing - self._given_up:
                break
            await self._refresh(missing)
            if all(partition in self._leaders for partition in partitions):
                break
            if asyncio.get_running_loop().time() > deadline:
                self._given_up |= missing
                break
            await asyncio.sleep(PAUSE)
        return {
            partition: self._leaders[partition]
            for partition in partitions
            if partition in self._leaders
        }

    async def make(self, topics: Iterable[str]) -> None:
        """Request metadata of topics, for which a cluster with automatic topic creation creates them."""
        requested = [{"name": name} for name in topics]
        await self._ask(METADATA, {"topics": requested, "allow_auto_topic_creation": True})

    async def partitions(self) -> dict[str, int]:
        """Return the number of partitions of each topic."""
        # before v1 an empty list requests all topics
        everything: list[Any] | None = None if self.offered.get(METADATA, (0, 0))[1] else []
        response = await self._ask(METADATA, {"topics": everything})
        return {topic["name"]: len(topic["partitions"]) for topic in response["topics"]}

    async def coordinator(self, coordinator: Coordinator) -> int:
        """Return the node id of a coordinator. Raises Unreachable."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while coordinator not in self._coordinators:
            response = await self._ask(
                FIND_COORDINATOR, {"key": coordinator.name, "key_type": coordinator.kind}
            )
            if not response["error_code"]:
                self._coordinators[coordinator] = response["node_id"]
                self.nodes[response["node_id"]] = response["host"], response["port"]
            elif asyncio.get_running_loop().time() > deadline:
                raise Unreachable(
                    f"no coordinator of {coordinator.name!r}: error {response['error_code']}"
                )
            else:
                await asyncio.sleep(PAUSE)
        return self._coordinators[coordinator]

    def forget(self, coordinator: Coordinator | None = None) -> None:
        """Forget a coordinator, or all leaders, so that the next use requests them again."""
        if coordinator is None:
            self._leaders.clear()
        else:
            self._coordinators.pop(coordinator, None)

    async def _refresh(self, topics: Collection[str | uuid.UUID]) -> None:
        names = [topic for topic in topics if isinstance(topic, str)]
        # not all versions can request topics by id: then all topics are requested
        requested = None if len(names) < len(topics) else [{"name": name} for name in names]
        values = {"topics": requested, "allow_auto_topic_creation": False}
        response = await self._ask(METADATA, values)
        self.nodes = {
            broker["node_id"]: (broker["host"], broker["port"]) for broker in response["brokers"]
        }
        for topic in response["topics"]:
            for partition in topic["partitions"]:
                if partition["leader_id"] >= 0:
                    for name in (topic["name"], topic.get("topic_id")):
                        if name:
                            key = name, partition["partition_index"]
                            self._leaders[key] = partition["leader_id"]

    async def _ask(self, key: int, values: dict[str, Any]) -> dict[str, Any]:
        version = 0
        if key in self.offered:
            version = min(NEWEST[key], version_for(key, NEWEST[key], self.offered))
        if self._connection is None:
            raise ConnectionLost("no connection")
        await self._connection.ready()
        layout = api(key).request.layout(version)
        body = api(key).request.codec(version).encode(prune(values, layout))
        future = self._connection.send(key, version, CLIENT_ID, body)
        assert future is not None  # noqa: S101
        answer = await asyncio.wait_for(future, PATIENCE)
        return api(key).response.codec(version).decode(answer)
