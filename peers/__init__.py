"""The brokers and clients on either side of the proxy that barnabas can start.

- `kfake/` is franz-go's fake cluster. `embedded.py` is librdkafka's mock cluster, called by ctypes. `apache/`
runs Kafka of exact versions, and its Java clients.
- `clients/` has the client libraries in use, each in any release, in a program of its own.
- `recorded/` answers as the brokers of a capture did; `replay/` sends the requests of a capture's clients.
- `processes.py` starts processes that never outlive this one.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Peer(NamedTuple):
    """A kind of brokers that barnabas can start, its module, and how to install it."""

    name: str
    module: str
    description: str
    needs: str


PEERS: Final = (
    Peer(
        "embedded",
        "barnabas.peers.kfake",
        "kfake if the wheel has it or go builds it, else librdkafka",
        "needs go on the path, a wheel with kfake, or barnabas with the extra 'peers'",
    ),
    Peer(
        "apache",
        "barnabas.peers.apache",
        "Apache Kafka itself in any version since 0.8.2, as apache:VERSION; downloaded on first use",
        "install barnabas with the extra 'apache'",
    ),
    Peer(
        "kfake",
        "barnabas.peers.kfake",
        "franz-go's fake cluster in memory, also as kfake:REVISION; in the wheel, or built on first use",
        "needs go on the path, or a wheel with kfake",
    ),
    Peer(
        "librdkafka",
        "barnabas.peers.embedded",
        "librdkafka's mock cluster in this process: real TCP, about 24 APIs, nothing to install",
        "install barnabas with the extra 'peers'",
    ),
)
"""The kinds that are part of barnabas; packages may add others (`barnabas.cli.peers.kinds`)."""
