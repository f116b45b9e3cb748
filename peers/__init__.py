"""Who stands on either side of the proxy: the brokers and clients that are at hand.

- `embedded.py` is librdkafka's mock cluster, called by ctypes: its configuration property gives no say over
  partitions and the delay of joins. `apache/` has Kafka of exact versions, and its Java clients.
- `clients/` are the client libraries in use, each in any release, in a program of its own.
- `recorded/` answers as the brokers of a capture did; `replay/` plays the clients of a capture.
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
)
"""The kinds that are part of barnabas; packages may add others (`barnabas.cli.peers.kinds`)."""
