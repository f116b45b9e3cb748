"""Leaders that move from one real broker to another."""

from __future__ import annotations

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.probe import ask
from barnabas.specs.keys import ALTER_PARTITION_REASSIGNMENTS, METADATA
from tests.experiments.scenarios.kafka import fired
from tests.waiting import SOON, until


def move_leader(cluster: ApacheCluster, topic: str, to: int) -> None:
    """Move the only replica of a topic's only partition, and with it the leader, to another broker.

    Returns when each broker names that one: the leader epoch is not the first one then.
    """
    ports = [port for _, port in cluster.brokers.values()]
    partition = {"partition_index": 0, "replicas": [to]}
    body = {"timeout_ms": int(SOON * 1000), "topics": [{"name": topic, "partitions": [partition]}]}
    answer = ask(ports[0], ALTER_PARTITION_REASSIGNMENTS, 0, body, SOON)
    assert answer["error_code"] == answer["responses"][0]["partitions"][0]["error_code"] == 0
    until(lambda: all(_led_by(port, topic) == to for port in ports), f"{to} leads {topic}")


def _led_by(port: int, topic: str) -> int:
    """Who leads the topic's first partition, as the broker at a port knows it."""
    answer = ask(port, METADATA, 1, {"topics": [{"name": topic}]}, SOON)
    leader: int = answer["topics"][0]["partitions"][0]["leader_id"]
    return leader


def asked(proxy: Harness, *apis: str) -> set[int | None]:
    """The brokers that got such requests."""
    return {one.broker for one in list(proxy.exchanges) if one.api in apis}


def named_an_unreachable_leader(proxy: Harness, api: str) -> None:
    """The former leader refused and named the new one, at an address where nobody listens."""
    found = fired(proxy, "nobody listens at the new leader's address")
    assert {(one.api, one.broker, one.error) for one in found} == {
        (api, 2, "NOT_LEADER_OR_FOLLOWER")
    }
    for one in found:
        assert one.response is not None
        named = [(node["node_id"], node["port"]) for node in one.response["node_endpoints"]]
        assert named == [(3, 1)]
    first = min(one.ts for one in found)
    assert [one for one in proxy.exchanges if one.api == "Metadata" and one.ts > first]
    assert asked(proxy, api) == {2, 3}
