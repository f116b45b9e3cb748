"""Who stands on either side of the proxy: the brokers and clients that are at hand.

- `embedded.py` is librdkafka's mock cluster, called by ctypes: its configuration property gives no say over
  partitions and the delay of joins. `apache/` has Kafka of exact versions, and its Java clients.
- `clients/` are the client libraries in use, each in any release, in a program of its own.
- `recorded/` answers as the brokers of a capture did; `replay/` plays the clients of a capture.
- `client_0_8/` and `pipelined_producer/` are clients that documents describe, over `dialogue.py` (a
  client's side of one connection, without a socket) and `leaders.py`.
- `consumer_rewrite/` and `central_coordination/` are designs of group coordination that never shipped, each
  with the same parts: a group and a broker at the coordinator, a consumer, all sans-IO, and asyncio around
  them. They take every step by the tables in `specs/drafts/`. Actions are carried out in order and a peer
  may die between any two, so a failover in any phase is a prefix of them. `registry/` is what coordinators
  agree on: entries with versions, elections and topics, in memory and on a real ZooKeeper.
- `logs/` are records behind the designs, `processes/` their brokers as one starts them, and `consuming/`
  their consumers with records.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Peer(NamedTuple):
    """A kind of brokers that can be started, the module that does it, and how to get it."""

    name: str
    module: str
    what: str
    needs: str


PEERS: Final = (
    Peer(
        "embedded",
        "barnabas.peers.embedded",
        "librdkafka's mock cluster in this process: real TCP, about 24 APIs, nothing to install",
        "pip install 'barnabas[peers]'",
    ),
    Peer(
        "apache",
        "barnabas.peers.apache",
        "Apache Kafka itself in any version since 0.8.2, as apache:VERSION; downloaded on first use",
        "pip install 'barnabas[apache]'",
    ),
    Peer(
        "rewrite",
        "barnabas.peers.processes",
        "the consumer rewrite of 0.9 that never shipped: each broker a process, on ZooKeeper",
        "pip install 'barnabas[apache,zookeeper]'",
    ),
    Peer(
        "central",
        "barnabas.peers.processes",
        "central consumer coordination that never shipped: each broker a process, on ZooKeeper",
        "pip install 'barnabas[apache,zookeeper]'",
    ),
)
"""All kinds."""
