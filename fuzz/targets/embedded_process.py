"""librdkafka's mock as a process: it prints its address, and ends when its stdin does."""

from __future__ import annotations

import os
import resource
import sys

from barnabas.peers.embedded import EmbeddedCluster


def main() -> None:
    """Serve until the end of stdin."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # writing a core file takes seconds
    with EmbeddedCluster(1, topics={sys.argv[1]: 1}) as cluster:
        sys.stdout.write(cluster.bootstrap + "\n")
        sys.stdout.flush()
        sys.stdin.read()
        os._exit(0)  # its C threads have nothing to finish


if __name__ == "__main__":
    main()
