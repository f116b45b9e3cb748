"""What runs in the process of `java_client.py`: `python -m` with JAVA and CLASSPATH."""

from __future__ import annotations

import sys

from barnabas.peers.apache.client_process import serve
from tests.experiments.scenarios.java_members import read_together
from tests.experiments.scenarios.java_transactions import transact
from tests.peers.java.process import FULL

if __name__ == "__main__":
    serve({**FULL, "read_together": read_together, "transact": transact}, *sys.argv[1:])
