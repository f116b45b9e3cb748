"""`barnabas peers start`: brokers that run until Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import threading

from barnabas.output import Output
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble
from peers import PEERS


def start(kind: str, brokers: int, output: Output | None = None) -> int:
    """Start a kind of brokers, print where they are, wait for SIGINT or SIGTERM."""
    if kind not in {peer.name for peer in PEERS}:
        names = ", ".join(peer.name for peer in PEERS)
        raise Trouble(f"no kind of brokers is called {kind!r}; there are: {names}")
    from peers.embedded import EmbeddedCluster, UnavailableError

    output = output or Output()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with EmbeddedCluster(brokers) as cluster:
            facts = {"bootstrap": cluster.bootstrap, "pid": os.getpid()}
            output.raw(json.dumps({"ready": facts}))
            output.note("topics are made on first use, with 4 partitions; Ctrl-C stops it")
            stop.wait()
    except UnavailableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    return FINE
