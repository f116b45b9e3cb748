"""What runs in the client's process: `python -m barnabas.designs.rebalances.java.process JAVA CLASSPATH`."""

from __future__ import annotations

import sys

from barnabas.designs.rebalances.java.steps import follow
from barnabas.peers.apache.client_process import DO, serve

if __name__ == "__main__":
    serve({**DO, "follow": follow}, *sys.argv[1:])
