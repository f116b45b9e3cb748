"""The live cluster as a client knows it: its brokers, their versions, leaders and coordinators."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Iterable
from typing import Any, Final

from barnabas.peers.replay.connection import Address, Dial, Gone, LiveConnection
from barnabas.peers.replay.routing import Coordinator
from barnabas.peers.replay.versions import NotReplayable, pruned, version_for
from barnabas.specs.keys import API_VERSIONS, FIND_COORDINATOR, METADATA
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

NEWEST: Final = {API_VERSIONS: 0, METADATA: 12, FIND_COORDINATOR: 3}
"""API key -> the version that is asked at most, since more is not needed."""

CLIENT_ID: Final = "barnabas-replay"

PAUSE: Final = 0.1
"""Seconds between two questions for a leader or a coordinator that is not there yet."""

PATIENCE: Final = 30.0
"""Seconds that an answer, or a coordinator, may take."""

LEADERLESS: Final = 5.0
"""Seconds that a partition may have no leader before it is taken to have none."""


class Unreachable(ConnectionError):
    """None of the bootstrap servers answers, or nobody coordinates or leads what is asked for."""


class LiveCluster:
    """What is known of a live cluster, which is asked on a connection of its own."""

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
        """Find the brokers. Raises Unreachable."""
        problems = []
        for address in self._bootstrap:
            try:
                self._connection = await self.dial(address)
                found = await self._ask(API_VERSIONS, {})
                self.offered = {
                    one["api_key"]: (one["min_version"], one["max_version"])
                    for one in found["api_keys"]
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
        """Close its connection."""
        if self._connection is not None:
            await self._connection.close()

    def node_for(self, recorded: int | None) -> int:
        """The broker that stands for a recorded one: that with its id, else one of the others."""
        if recorded in self.nodes:
            return recorded
        nodes = sorted(self.nodes)
        return nodes[(recorded or 0) % len(nodes)]

    async def leaders(self, places: Collection[tuple[str | uuid.UUID, int]]) -> dict[Any, int]:
        """The leaders of these partitions; those that nobody leads are left out."""
        until = asyncio.get_running_loop().time() + min(PATIENCE, LEADERLESS)
        while True:
            missing = {topic for topic, number in places if (topic, number) not in self._leaders}
            if not missing - self._given_up:
                break
            await self._refresh(missing)
            if all(place in self._leaders for place in places):
                break
            if asyncio.get_running_loop().time() > until:
                self._given_up |= missing
                break
            await asyncio.sleep(PAUSE)
        return {place: self._leaders[place] for place in places if place in self._leaders}

    async def make(self, topics: Iterable[str]) -> None:
        """Ask for topics: a cluster that makes those that it is asked for has them then."""
        wanted = [{"name": name} for name in topics]
        await self._ask(METADATA, {"topics": wanted, "allow_auto_topic_creation": True})

    async def partitions(self) -> dict[str, int]:
        """All topics, and how many partitions they have."""
        # before v1 an empty list asks for all
        everything: list[Any] | None = None if self.offered.get(METADATA, (0, 0))[1] else []
        found = await self._ask(METADATA, {"topics": everything})
        return {topic["name"]: len(topic["partitions"]) for topic in found["topics"]}

    async def coordinator(self, wanted: Coordinator) -> int:
        """The node id of a coordinator. Raises Unreachable."""
        until = asyncio.get_running_loop().time() + PATIENCE
        while wanted not in self._coordinators:
            found = await self._ask(FIND_COORDINATOR, {"key": wanted.name, "key_type": wanted.kind})
            if not found["error_code"]:
                self._coordinators[wanted] = found["node_id"]
                self.nodes[found["node_id"]] = found["host"], found["port"]
            elif asyncio.get_running_loop().time() > until:
                raise Unreachable(f"no coordinator of {wanted.name!r}: error {found['error_code']}")
            else:
                await asyncio.sleep(PAUSE)
        return self._coordinators[wanted]

    def forget(self, wanted: Coordinator | None = None) -> None:
        """Ask again for a coordinator, or for all leaders: it is another one now."""
        if wanted is None:
            self._leaders.clear()
        else:
            self._coordinators.pop(wanted, None)

    async def _refresh(self, topics: Collection[str | uuid.UUID]) -> None:
        names = [topic for topic in topics if isinstance(topic, str)]
        # ids alone can't be asked for by all: then all topics are
        wanted = None if len(names) < len(topics) else [{"name": name} for name in names]
        values = {"topics": wanted, "allow_auto_topic_creation": False}
        found = await self._ask(METADATA, values)
        self.nodes = {one["node_id"]: (one["host"], one["port"]) for one in found["brokers"]}
        for topic in found["topics"]:
            for partition in topic["partitions"]:
                if partition["leader_id"] >= 0:
                    for name in (topic["name"], topic.get("topic_id")):
                        if name:
                            place = name, partition["partition_index"]
                            self._leaders[place] = partition["leader_id"]

    async def _ask(self, key: int, values: dict[str, Any]) -> dict[str, Any]:
        version = 0
        if key in self.offered:
            version = min(NEWEST[key], version_for(key, NEWEST[key], self.offered))
        if self._connection is None:
            raise Gone("no connection")
        await self._connection.ready()
        layout = api(key).request.layout(version)
        body = api(key).request.codec(version).encode(pruned(values, layout))
        future = self._connection.send(key, version, CLIENT_ID, body)
        assert future is not None  # noqa: S101
        answer = await asyncio.wait_for(future, PATIENCE)
        return api(key).response.codec(version).decode(answer)
