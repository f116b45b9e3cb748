"""From a plan to files and JVMs that are not started yet."""

from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from barnabas.peers.apache.jvm import LOG4J, Jvm, command, logging_flags
from barnabas.peers.apache.settings import (
    HOST,
    Node,
    Plan,
    meta_properties,
    server_properties,
    zoo_cfg,
)
from barnabas.peers.apache.versions import Mode, Release

BROKER_HEAP: Final = "256m"
OTHER_HEAP: Final = "64m"
"""The heap of ZooKeeper and of the formatting tool."""

FORMATTED_SINCE: Final = (4, 0)
"""The first version whose formatting sets features besides metadata.version (KIP-1022)."""

LOG4J_UNTIL: Final = (1, 1)
"""The first version with a logger among the artifacts, which flags configure (jvm.py)."""


def plan(release: Release, mode: Mode, nodes: int | Sequence[int], directory: Path) -> Plan:
    """Plan a cluster of so many brokers, or of brokers on these ports, in a directory.

    Other ports are free now.
    """
    count = nodes if isinstance(nodes, int) else len(nodes)
    zookeeper, *ports = free_ports(1 + 3 * count)
    clients = ports[::3] if isinstance(nodes, int) else nodes
    each = zip(clients, ports[1::3], ports[2::3], strict=True)
    return Plan(
        release,
        mode,
        tuple(Node(i, *three, directory / f"broker-{i}") for i, three in enumerate(each, start=1)),
        _cluster_id(),
        zookeeper,
    )


def free_ports(count: int) -> list[int]:
    """Return `count` different ports that the system reports as free; another process may still take one."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((HOST, 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in sockets]


def _cluster_id() -> str:
    """Return a random UUID in Kafka's base64; a leading hyphen would look like an option."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()).startswith("-"):
        pass
    return text.rstrip("=")


class Boot(NamedTuple):
    """A planned cluster, and what its JVMs are started with.

    settings: added to each broker's. levels: of brokers' loggers, if not WARN.
    """

    plan: Plan
    jars: Sequence[Path]
    settings: Mapping[str, str] = MappingProxyType({})
    levels: Mapping[str, str] = MappingProxyType({})

    def zookeeper(self, directory: Path) -> Jvm:
        """Return ZooKeeper in a JVM of its own, with its files in a new directory."""
        directory.mkdir()
        config = directory / "zoo.cfg"
        config.write_text(zoo_cfg(self.plan, directory / "data"))
        main = ("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config))
        return self._jvm("ZooKeeper", main, directory, OTHER_HEAP)

    def broker(self, node: Node) -> Jvm:
        """Return a broker, with its files in its node's directory."""
        data = node.directory / "data"
        data.mkdir(parents=True)
        config = node.directory / "server.properties"
        config.write_text(server_properties(self.plan, node, self.settings))
        release = self.plan.release
        if self.plan.mode is Mode.KRAFT and release.number < FORMATTED_SINCE:
            (data / "meta.properties").write_text(meta_properties(self.plan, node))
        main, name = ("kafka.Kafka", str(config)), f"broker {node.id} of Kafka {release.version}"
        return self._jvm(name, main, node.directory, BROKER_HEAP, self.levels)

    def format_storage(self, patience: float) -> None:
        """Format the brokers' directories for a new KRaft cluster, where that needs Kafka's tool.

        It runs for the first node; the others get a copy of its output about the cluster. Raises BootError.
        """
        plan = self.plan
        if plan.mode is not Mode.KRAFT or plan.release.number < FORMATTED_SINCE:
            return
        first, *others = plan.nodes
        config = str(first.directory / "server.properties")
        main = ("kafka.tools.StorageTool", "format", "-t", plan.cluster_id, "-c", config)
        name = f"formatting for Kafka {plan.release.version}"
        self._jvm(name, main, first.directory, OTHER_HEAP).run(patience)
        for node in others:
            data = node.directory / "data"
            (data / "meta.properties").write_text(meta_properties(plan, node))
            shutil.copy(first.directory / "data" / "bootstrap.checkpoint", data)

    def _jvm(
        self,
        name: str,
        main: Sequence[str],
        directory: Path,
        heap: str,
        levels: Mapping[str, str] = MappingProxyType({}),
    ) -> Jvm:
        release = self.plan.release
        flags = (*release.flags, *(logging_flags(levels) if levels else ()))
        if release.number < LOG4J_UNTIL:
            logging = directory / "log4j.properties"
            options = "".join(f"log4j.logger.{name}={level}\n" for name, level in levels.items())
            logging.write_text(LOG4J + options)
            flags = (*flags, f"-Dlog4j.configuration={logging.as_uri()}")
        return Jvm(name, command(self.jars, main, heap=heap, flags=flags), directory / "log.txt")
