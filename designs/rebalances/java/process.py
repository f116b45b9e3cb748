"""The program of the client's process.

Usage: `python -m barnabas.designs.rebalances.java.process JAVA CLASSPATH`.
"""

from __future__ import annotations

import sys

from barnabas.designs.rebalances.java.steps import follow
from barnabas.peers.apache.client_process import CALLS, serve

if __name__ == "__main__":
    serve({**CALLS, "follow": follow}, *sys.argv[1:])
