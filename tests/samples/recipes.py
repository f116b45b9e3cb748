"""One function a sample: who speaks with whom, and who records it."""

from __future__ import annotations

import gzip
import shutil
import ssl
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import zstandard

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.designs.rebalances.java.client import FollowingClient
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster
from tests.peers.java.client import FullClient, Transaction
from tests.ports import free_ports
from tests.samples import clients, wrong_client
from tests.samples.others import others
from tests.samples.recorders import bare, dumpcap, ports, proxy, tcpdump

HERE: Final = Path(__file__).parent

TOPIC: Final = "orders"
TWO: Final = {"num.partitions": "2"}
DELAY: Final = {"group.initial.rebalance.delay.ms": "0"}
PASSWORD: Final = "correct-horse-battery-staple"
"""Not to be found in the sample."""


def kafka(version: str, brokers: int = 1, more: Mapping[str, str] | None = None) -> ApacheCluster:
    """Apache Kafka whose topics have two partitions."""
    return ApacheCluster(version, brokers, settings={**TWO, **(more or {})}, timeout=90)


def embedded(path: Path) -> None:
    """A producer and a consumer in a group, through the proxy to the embedded cluster."""
    with EmbeddedCluster(3, topics={TOPIC: 2}) as cluster, proxy(cluster.bootstrap, path) as where:
        clients.produce(where, TOPIC, 12, more={"compression.type": "lz4"})
        _read_and_commit(where, 12)


def _read_and_commit(where: str, count: int, **settings: Any) -> None:
    reader = clients.member(where, TOPIC, **settings)
    clients.read(count, reader)
    reader.commit(asynchronous=False)
    reader.close()


def kip_848(path: Path) -> None:
    """Two members of a group of KIP-848."""
    protocol = {"group.protocol": "consumer"}
    beats = {
        "group.consumer.heartbeat.interval.ms": "1000",
        "group.consumer.min.heartbeat.interval.ms": "500",
    }
    with (
        kafka("4.3.1", more=beats) as cluster,
        proxy(cluster.bootstrap, path) as where,
    ):
        clients.produce(where, TOPIC, 12)
        first = clients.member(where, TOPIC, "first", **protocol)
        clients.read(12, first)
        first.commit(asynchronous=False)
        second = clients.member(where, TOPIC, "second", **protocol)
        clients.settle(first, second, each=1)
        second.close()
        clients.settle(first, each=2)
        first.close()


def flapping(path: Path) -> None:
    """A classic group in which one member works for longer than its max.poll.interval.ms."""
    own = {
        "group.id": "workers",
        "group.protocol": "classic",
        "enable.auto.commit": "false",
        "enable.metrics.push": "false",
        "fetch.max.wait.ms": "5000",
        "heartbeat.interval.ms": "500",
        "max.poll.interval.ms": "1500",
    }
    works: list[list[Any]] = [["rejoin"], ["work", 3], ["commit", "sync", "late"]]
    with (
        kafka("4.3.1", more=DELAY) as cluster,
        proxy(cluster.bootstrap, path) as where,
        FollowingClient("4.3.1", own | {"bootstrap.servers": where}) as java,
    ):
        java.create_topic(TOPIC, 2)
        healthy = [["settle", 2], ["say", "begun"], ["keep", 20]]
        slow = [["hear", "begun"], *(works * 4)]
        members = [
            {"steps": steps, "settings": {"client.id": name}}
            for name, steps in (("healthy", healthy), ("slow", slow))
        ]
        java.follow(TOPIC, 1, [members])


def transactions(path: Path) -> None:
    """An aborted transaction, a committed one with offsets, and a consumer that reads committed records."""
    own = {"transactional.id": "payments", "client.id": "payments"}
    reads = {"isolation.level": "read_committed", "fetch.max.wait.ms": "300"}
    with (
        kafka("4.3.1") as cluster,
        proxy(cluster.bootstrap, path) as where,
        FullClient("4.3.1", {"bootstrap.servers": where, "enable.metrics.push": "false"}) as java,
    ):
        for outcome in ("abort", "commit"):
            values = [f"{outcome} {number}".encode() for number in range(4)]
            about = Transaction("abort")
            if outcome == "commit":
                about = Transaction("commit", "readers", {0: 2})
            java.produce_in_transaction(TOPIC, values, about, settings=own, partitions=[0, 1] * 2)
        got = java.consume(TOPIC, 4, group="others", settings=reads)
        assert {one.value for one in got} == {f"commit {number}".encode() for number in range(4)}


def old_formats(path: Path) -> None:
    """Java 0.10.2.1: message sets of magic 1 and no transactions; a group with range assignment."""
    with (
        kafka("0.10.2.1") as cluster,
        FullClient("0.10.2.1", {"bootstrap.servers": cluster.bootstrap}) as java,
        tcpdump(ports(cluster.bootstrap), path),
    ):
        gzipped = {"client.id": "writer", "compression.type": "gzip"}
        java.produce(TOPIC, [f"order {n}".encode() * 4 for n in range(12)], settings=gzipped)
        java.consume(TOPIC, 12, group="readers", settings={"client.id": "reader"})


def rebalance(path: Path) -> None:
    """aiokafka's group of two on three brokers, which copy the records from each other meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.pcap"
        slow = {"replica.fetch.wait.max.ms": "2000"}  # fewer packets
        with (
            kafka("3.9.1", 3, more=slow) as cluster,
            tcpdump(ports(cluster.bootstrap), plain),
        ):
            clients.aiokafka_group(cluster.bootstrap, TOPIC, 8)
        path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))


def beside(path: Path) -> None:
    """Kafka, HTTP, TLS and something else, side by side."""
    with (
        EmbeddedCluster(1, topics={TOPIC: 2}) as cluster,
        others() as (of_others, speak),
        dumpcap([*ports(cluster.bootstrap), *of_others], path),
    ):
        clients.produce(cluster.bootstrap, TOPIC, 8)
        speak()
        _read_and_commit(cluster.bootstrap, 8)


def midway(path: Path) -> None:
    """A producer and a consumer that had begun before."""
    with kafka("4.3.1") as cluster:
        where = cluster.bootstrap
        reader = clients.member(where, TOPIC)
        clients.produce(where, TOPIC, 4)
        clients.read(4, reader)
        with tcpdump(ports(where), path):
            clients.produce(where, TOPIC, 8)
            clients.read(8, reader)
            reader.commit(asynchronous=False)
        reader.close()


def cut_short(path: Path) -> None:
    """Packets of which only the first 300 bytes were kept."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.pcap"
        with (
            kafka("3.9.1") as cluster,
            tcpdump(ports(cluster.bootstrap), plain, "-s", "300"),
        ):
            clients.produce(cluster.bootstrap, TOPIC, 8, size=20)
            clients.produce(cluster.bootstrap, TOPIC, 8, size=1000)
            _read_and_commit(cluster.bootstrap, 16)
        path.write_bytes(zstandard.compress(plain.read_bytes()))


def faults(path: Path) -> None:
    """What rules do to a healthy producer and consumer, and why."""
    with (
        EmbeddedCluster(3, topics={TOPIC: 2}) as cluster,
        proxy(cluster.bootstrap, path, "--scenario", str(HERE / "faults.yaml")) as where,
    ):
        clients.produce(where, TOPIC, 12)
        _read_and_commit(where, 12)


def wrong(path: Path) -> None:
    """A client that does wrong what a client can do wrong."""
    slow = {"replica.fetch.wait.max.ms": "5000"}
    with kafka("3.9.1", 2, more=slow) as cluster:
        clients.produce(cluster.bootstrap, TOPIC, 4)
        for attempt in range(20):  # on a busy machine haste takes its time
            with tcpdump(ports(cluster.bootstrap), path):
                wrong_client.run(cluster.brokers, TOPIC, f"readers-{attempt}")
            exchanges = Conversations(strays=True).exchanges(CaptureReader(path))
            found = Counter(check.name for check, _ in run(exchanges, CHECKS))
            if found == dict.fromkeys(ONCE, 1):
                return
        raise RuntimeError(f"{path.name} shows {dict(found)}")


ONCE: Final = ("correlation_ids", "versions", "leaders", "fetch_loops", "commits", "backoff")


def sasl(path: Path) -> None:
    """SASL/PLAIN; the password is asterisks."""
    plain, secured = "PLAINTEXT://127.0.0.1:{port}", "SASL_PLAINTEXT://127.0.0.1:{spare_port}"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    settings = {
        "listeners": f"{plain},CONTROLLER://127.0.0.1:{{controller_port}},{secured}",
        "advertised.listeners": f"{plain},{secured}",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            f'{module} required user_alice="{PASSWORD}";'
        ),
    }
    with kafka("3.9.1", more=settings) as cluster:
        spare = f"127.0.0.1:{cluster.nodes[1].node.spare_port}"
        with proxy(spare, path) as where:
            alice = {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "alice",
                "sasl.password": PASSWORD,
            }
            clients.produce(where, TOPIC, 4, more=alice)
            _read_and_commit(where, 4, **alice)


def tls(path: Path) -> None:
    """TLS 1.3 between a client and the proxy; the keys stand in the file, as editcap puts them there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with EmbeddedCluster(1, topics={TOPIC: 2}) as cluster:
            unused = folder / "unused.pcapng"
            free = free_ports(3)[0]
            options = ("--client-tls", "--broker-ports", f"{free}-{free + 2}")
            with proxy(cluster.bootstrap, unused, *options, data=folder) as where:
                around = [*ports(where), free, free + 1, free + 2]
                context = ssl.create_default_context(cafile=folder / "barnabas" / "ca" / "ca.pem")
                context.keylog_filename = str(folder / "keys")
                with tcpdump(around, folder / "plain.pcap"):
                    clients.aiokafka_produce(
                        where, TOPIC, 4, security_protocol="SSL", ssl_context=context
                    )
        editcap = shutil.which("editcap") or "editcap"
        whole, keys = folder / "whole.pcapng", f"tls,{folder / 'keys'}"
        subprocess.run(
            [editcap, "--inject-secrets", keys, folder / "plain.pcap", whole], check=True
        )
        bare(whole, path)


SAMPLES: Final[tuple[tuple[str, Callable[[Path], None]], ...]] = (
    ("embedded.pcapng", embedded),
    ("kip-848.pcapng", kip_848),
    ("flapping.pcapng", flapping),
    ("transactions.pcapng", transactions),
    ("old-formats.pcap", old_formats),
    ("rebalance.pcap.gz", rebalance),
    ("beside.pcapng", beside),
    ("midway.pcap", midway),
    ("cut-short.pcap.zst", cut_short),
    ("faults.pcapng", faults),
    ("wrong.pcap", wrong),
    ("sasl.pcapng", sasl),
    ("tls.pcapng", tls),
)
