"""Real Apache Kafka: brokers of exact versions on loopback, and its Java clients (`client`).

with ApacheCluster("3.9.1", nodes=3) as cluster:
    print(cluster.bootstrap)
    cluster.kill(2)
"""

from __future__ import annotations

from barnabas.peers.apache.cluster import ApacheCluster, JavaOptions
from barnabas.peers.apache.errors import BootError, UnavailableError, UnknownVersionError
from barnabas.peers.apache.versions import Mode

__all__ = [
    "ApacheCluster",
    "BootError",
    "JavaOptions",
    "Mode",
    "UnavailableError",
    "UnknownVersionError",
]
