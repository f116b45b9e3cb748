"""Real clients through the proxy to the embedded cluster: all arrives, and nobody goes past it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.harness import Harness
from barnabas.peers.embedded import EmbeddedCluster
from tests.proxy.test_narrowed_clients import SENT, Roundtrip, aiokafka_, confluent


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3) as running:
        yield running


def sockets_of_this_process() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def connections(to: set[int]) -> int:
    """How many TCP connections of this process lead to one of these ports."""
    own, count = sockets_of_this_process(), 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        port, established = int(fields[2].split(":")[1], 16), fields[3] == "01"
        count += established and port in to and fields[9] in own
    return count


def nobody_goes_past(proxy: Harness, cluster: EmbeddedCluster) -> None:
    """Every connection to a broker is one that the proxy made."""
    brokers = {port for _, port in cluster.brokers.values()}
    assert 0 < connections(brokers) <= len(proxy.proxy.relays)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="connections are counted in /proc")
@pytest.mark.parametrize("client", [confluent, aiokafka_])
@pytest.mark.parametrize("observed", [True, False])
def test_a_client_and_its_group(
    cluster: EmbeddedCluster, client: Roundtrip, observed: bool
) -> None:
    with Harness(cluster.bootstrap, observed=observed) as proxy:
        topic = f"{client.__name__}-{observed}"
        got = client(proxy.bootstrap, topic, lambda: nobody_goes_past(proxy, cluster))
        learnt = {node.id: node.upstream for node in proxy.proxy.topology.nodes.values()}
        counts = {row.api: row.count for row in proxy.tally.rows()}
    assert sorted(got) == sorted(SENT)
    assert learnt == cluster.brokers
    assert {"Produce", "Fetch", "JoinGroup", "OffsetCommit", "LeaveGroup"} <= counts.keys()
    assert proxy.proxy.totals.undecoded == 0
    assert {exchange.api for exchange in proxy.exchanges} == (counts.keys() if observed else set())
