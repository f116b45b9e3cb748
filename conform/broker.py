"""The broker under test, as a check sees it: connections, fresh names, common requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.conform.connection import Connection, Versions
from barnabas.conform.login import Login, no_login
from barnabas.conform.operations import Address, Now, Open, Restart, Sleep, Steps
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped, Unprepared
from barnabas.peers.replay.authentication import Credentials

GROUP: Final = 0
"""The type of a group's key in FindCoordinator."""


class Broker:
    """One check's view of the broker. Names of topics, groups and transactional ids are its own."""

    def __init__(
        self, versions: Versions, prefix: str, login: Login = no_login, time_ms: int = 0
    ) -> None:
        self.versions = versions
        self.main = Connection(0, versions)
        """The first connection, to the broker under test; `run` opens it."""
        self.created: list[tuple[str, str]] = []
        """Kind and name of everything that the check made: "topic", "group"."""
        self.prefix = prefix
        """Begins the names of topics, groups and transactional ids."""
        self.time_ms = time_ms
        """The time of the run, in ms since 1970: that of batches with a producer id."""
        self.login = login
        """Authenticates connections of which a check says nothing else."""
        self._by_address: dict[Address, Connection] = {}
        self._topics: list[str] = []
        """The topics that `create` made."""

    async def run(self, check: Callable[[Broker], Steps[None]]) -> None:
        """Run a check's function on this broker."""
        self.main = await self.connect()
        await check(self)

    def name(self, kind: str) -> str:
        """Return an unused name for a topic, group or transactional id."""
        name = f"{self.prefix}-{kind}-{len(self.created)}"
        self.created.append((kind, name))
        return name

    @property
    def credentials(self) -> Credentials:
        """Return the credentials of the run. Raises Skipped if it has none."""
        if self.login.credentials is None:
            raise Skipped("the run has no credentials of SASL: see --sasl-mechanism")
        return self.login.credentials

    async def connect(
        self, address: Address | None = None, login: Login | None = None
    ) -> Connection:
        """Open another connection, to the broker under test or to another one of its cluster.

        Args:
            address: None: the broker under test.
            login: authenticates the connection; None: as in the whole run.
        """
        connection = Connection(await Open(address), self.versions)
        await (login or self.login)(connection)
        return connection

    async def leader(self, topic: str, partition: int = 0, *, fresh: bool = False) -> Connection:
        """Return a connection to a partition's leader: a shared one, or a fresh one."""
        metadata = await self.metadata(topic)
        leaders = {
            row["partition_index"]: row["leader_id"] for row in metadata["topics[0].partitions"]
        }
        brokers = {row["node_id"]: (row["host"], row["port"]) for row in metadata["brokers"]}
        address = brokers.get(leaders.get(partition, -1)) if len(brokers) > 1 else None
        return await (self.connect if fresh else self._connected)(address)

    async def coordinator(
        self, key: str, key_type: int = GROUP, *, fresh: bool = False
    ) -> Connection:
        """Return a connection to the coordinator of a group or transactional id: shared, or fresh."""
        address = None
        if "FindCoordinator" in self.versions:
            version = self.version("FindCoordinator", 0 if key_type == GROUP else 1)
            response = await self.send(
                "FindCoordinator", version, key=key, key_type=key_type, coordinator_keys=[key]
            )
            entry = response.at("coordinators[0]") if version >= 4 else response
            entry.expect(error_code="NONE")
            if len((await self.metadata())["brokers"]) > 1:
                address = (entry["host"], entry["port"])
                await self._wait_known(await self._connected(address))
        return await (self.connect if fresh else self._connected)(address)

    async def _wait_known(self, connection: Connection) -> None:
        """Wait until another broker knows the check's topics: it may lead none of them."""
        deadline = await Now() + LEADERS_S
        while self._topics and await Now() < deadline:
            topics = (await self.metadata(*self._topics, on=connection))["topics"]
            if not any(row["error_code"] for row in topics):
                return
            await Sleep(0.05)

    async def _connected(self, address: Address | None) -> Connection:
        """Return the shared connection to an address; None: the broker under test."""
        if address is None:
            return self.main
        if address not in self._by_address:
            self._by_address[address] = await self.connect(address)
        return self._by_address[address]

    async def send(self, api: str, version: int | None = None, /, **fields: Any) -> Response:
        """Send a request on the check's first connection: see `Connection.send`."""
        return await self.main.send(api, version, **fields)

    def version(self, api: str, oldest: int = 0, newest: int = 32767) -> int:
        """Return the newest version in a range that the broker offers: see `Connection.version`."""
        return self.main.version(api, oldest, newest)

    async def topic(self, partitions: int = 1, **configs: str) -> str:
        """Create a topic and wait until its partitions have leaders. Underscores in configs are dots.

        The broker keeps records of any age, since checks write fixed timestamps (`logs.TIME_MS`).
        """
        name = self.name("topic")
        defaults = {"retention.ms": "-1"} if "CreateTopics" in self.versions else {}
        given = {key.replace("_", "."): value for key, value in configs.items()}
        await self.create(name, partitions, defaults | given)
        return name

    async def create(self, name: str, partitions: int, configs: Mapping[str, str]) -> None:
        """Create a named topic and wait until its leaders serve it.

        A broker without CreateTopics creates topics on first use, if the check needs no settings.
        """
        self._topics.append(name)
        if "CreateTopics" in self.versions or configs:
            await self._create(name, partitions, configs)
        elif partitions == 1:
            await self.send("Metadata", topics=[{"name": name}], allow_auto_topic_creation=True)
        else:
            raise Skipped("the broker does not offer CreateTopics")
        await self.wait_served(name)

    async def wait_served(self, name: str) -> None:
        """Wait until the leaders of a topic's partitions serve it; at most LEADERS_S."""
        deadline = await Now() + LEADERS_S
        while not await self._served(name) and await Now() < deadline:
            await Sleep(0.05)

    async def _served(self, topic: str) -> bool:
        """Return whether all partitions have leaders that answer ListOffsets."""
        described = (await self.metadata(topic)).at("topics[0]")
        if described["error_code"] != "NONE" or any(
            row["leader_id"] < 0 for row in described["partitions"]
        ):
            return False
        if "ListOffsets" not in self.versions:
            return True
        for row in described["partitions"]:
            partition = row["partition_index"]
            response = await (await self.leader(topic, partition)).send(
                "ListOffsets",
                replica_id=-1,
                topics=[
                    {
                        "name": topic,
                        "partitions": [
                            {
                                "partition_index": partition,
                                "timestamp": -1,
                                "current_leader_epoch": -1,
                            }
                        ],
                    }
                ],
            )
            if response["topics[0].partitions[0].error_code"] != "NONE":
                return False
        return True

    async def _create(self, name: str, partitions: int, configs: Mapping[str, str]) -> None:
        fields = {
            "topics": [
                {
                    "name": name,
                    "num_partitions": partitions,
                    "replication_factor": 1,
                    "assignments": [],
                    "configs": [{"name": key, "value": value} for key, value in configs.items()],
                }
            ],
            "timeout_ms": 10_000,
            "validate_only": False,
        }
        created = (await self.send("CreateTopics", **fields)).at("topics[0]")
        if created["error_code"] == "NOT_CONTROLLER":
            controller = await self._controller()
            created = (await controller.send("CreateTopics", **fields)).at("topics[0]")
        if created["error_code"] != "NONE":
            raise Unprepared(f"no topic for the check: CreateTopics gets {created['error_code']}")

    async def _controller(self) -> Connection:
        """Return a connection to the controller: not every broker forwards requests to it."""
        metadata = await self.metadata()
        addresses = {row["node_id"]: (row["host"], row["port"]) for row in metadata["brokers"]}
        return await self._connected(addresses.get(metadata["controller_id"]))

    async def metadata(self, *topics: str, on: Connection | None = None) -> Response:
        """Return the metadata of topics, from the broker under test or over another connection."""
        return await (on or self.main).send(
            "Metadata",
            topics=[{"name": topic} for topic in topics],
            allow_auto_topic_creation=False,
        )

    async def topic_id(self, topic: str) -> Any:
        """Return a topic's id. Raises Skipped if the broker's Metadata has none."""
        self.version("Metadata", 10)
        return (await self.metadata(topic))["topics[0].topic_id"]

    async def restart(self) -> None:
        """Restart the broker, and connect anew. Raises Skipped if the run has no restart command."""
        if not await Restart():
            raise Skipped("no way to restart the broker: give --restart COMMAND")
        self._by_address.clear()
        self.main = await self.connect()


LEADERS_S: Final = 10.0
"""How long a topic may be without leaders, when it is new or the broker was restarted."""
