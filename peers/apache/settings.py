"""Configuration files of brokers and ZooKeeper: versions, ports and directories become properties files.

Pure functions. Sources of the names: KafkaConfig of each version (config/server.properties of its
distribution), zoo.cfg of ZooKeeper's administrator's guide, BrokerMetadataCheckpoint and
MetaPropertiesEnsemble for meta.properties. Everything listens on 127.0.0.1 only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.peers.apache.versions import Mode, Release

HOST: Final = "127.0.0.1"


class Node(NamedTuple):
    """A broker: its id (from 1), the port clients use, and where its files are.

    `controller_port` is for KRaft. `spare_port` is free: for a listener that a caller adds.
    """

    id: int
    port: int
    controller_port: int
    spare_port: int
    directory: Path


class Plan(NamedTuple):
    """A cluster before it starts. `cluster_id` is a UUID as Kafka writes it (22 letters, base64)."""

    release: Release
    mode: Mode
    nodes: tuple[Node, ...]
    cluster_id: str
    zookeeper_port: int = 0

    def replicas(self, preferred: int = 3) -> int:
        """Return a replication factor: `preferred`, at most the number of brokers."""
        return min(preferred, len(self.nodes))


def server_properties(plan: Plan, node: Node, extra: Mapping[str, str] | None = None) -> str:
    """Return the text of a broker's server.properties.

    Args:
        plan: the cluster.
        node: the broker.
        extra: settings merged last. `{id}`, `{port}`, `{controller_port}` and `{spare_port}` in values are
            replaced by the node's; an empty value removes a setting.
    """
    settings = {
        **_common(plan, node),
        **(_kraft(plan, node) if plan.mode is Mode.KRAFT else _zookeeper(plan, node)),
    }
    settings |= {key: _filled(value, node) for key, value in (extra or {}).items()}
    return properties({key: value for key, value in settings.items() if value != ""})


def zoo_cfg(plan: Plan, directory: Path) -> str:
    """Return the text of ZooKeeper's zoo.cfg: one server, unlimited connections, two commands."""
    return properties(
        {
            "tickTime": "500",
            "dataDir": str(directory),
            "clientPort": str(plan.zookeeper_port),
            "clientPortAddress": HOST,
            "maxClientCnxns": "0",
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "dump,ruok",
        }
    )


def meta_properties(plan: Plan, node: Node) -> str:
    """Return the text of the meta.properties that marks a log directory as formatted for KRaft."""
    return properties({"version": "1", "cluster.id": plan.cluster_id, "node.id": str(node.id)})


def properties(settings: Mapping[str, str]) -> str:
    r"""Return a Java properties file for java.util.Properties: Latin-1 with \u escapes.

    >>> print(properties({"log.dirs": "/tmp/a b", "password": "\\\u20ac"}), end="")
    log.dirs=/tmp/a b
    password=\\\u20ac
    """
    return "".join(f"{key}={_escaped(value)}\n" for key, value in settings.items())


def _escaped(value: str) -> str:
    value = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    if value.startswith((" ", "\t")):
        value = "\\" + value
    units = value.encode("utf-16-be")
    return "".join(
        chr(unit) if unit < 0x7F else f"\\u{unit:04x}"
        for unit in (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    )


def _filled(value: str, node: Node) -> str:
    for name in ("id", "port", "controller_port", "spare_port"):
        value = value.replace(f"{{{name}}}", str(getattr(node, name)))
    return value


def _common(plan: Plan, node: Node) -> dict[str, str]:
    """Return the settings of every version: little memory, few threads, topics on all brokers."""
    settings = {
        "log.dirs": str(node.directory / "data"),
        "num.network.threads": "1",
        "num.io.threads": "2",
        "background.threads": "1",
        "num.partitions": "1",
        "default.replication.factor": str(plan.replicas()),
        "offsets.topic.replication.factor": str(plan.replicas()),
        "offsets.topic.num.partitions": "1",
        "log.cleaner.dedupe.buffer.size": "2097152",
        "controlled.shutdown.enable": "false",
    }
    if plan.release.number >= (0, 11):
        settings |= {
            "transaction.state.log.replication.factor": str(plan.replicas()),
            "transaction.state.log.min.isr": str(plan.replicas(2)),
            "transaction.state.log.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
        }
    if plan.release.number >= (4, 0):
        settings |= {
            "share.coordinator.state.topic.replication.factor": str(plan.replicas()),
            "share.coordinator.state.topic.min.isr": str(plan.replicas(2)),
            "share.coordinator.state.topic.num.partitions": "1",
        }
    return settings


def _kraft(plan: Plan, node: Node) -> dict[str, str]:
    """Return the settings of a node that is broker and controller; a session timeout of 3 s instead of 9."""
    voters = ",".join(f"{voter.id}@{HOST}:{voter.controller_port}" for voter in plan.nodes)
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "controller.quorum.voters": voters,
        "listeners": f"PLAINTEXT://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{node.port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(
            ("CONTROLLER:PLAINTEXT", *(f"{name}:{name}" for name in _PROTOCOLS))
        ),
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    }


_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def _zookeeper(plan: Plan, node: Node) -> dict[str, str]:
    """Return the settings of a broker with ZooKeeper; a session timeout of 3 s instead of 6 or 18."""
    settings = {
        "broker.id": str(node.id),
        "zookeeper.connect": f"{HOST}:{plan.zookeeper_port}",
        "zookeeper.session.timeout.ms": "3000",
        "zookeeper.connection.timeout.ms": "15000",
    }
    if plan.release.number >= (0, 9):
        return settings | {
            "listeners": f"PLAINTEXT://{HOST}:{node.port}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{node.port}",
        }
    return settings | {
        "host.name": HOST,
        "port": str(node.port),
        "advertised.host.name": HOST,
        "advertised.port": str(node.port),
    }
