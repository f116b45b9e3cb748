"""A broker with all clients: the cluster, a proxy for each client, each job on both sides at once."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster
from tests.compat.cells import Cell, Verdict, judge
from tests.compat.clients.common import PARTITIONS
from tests.compat.plan import EMBEDDED, FOUND, JOBS, UNREADABLE, gap, number
from tests.compat.processes import proxy, run_client, wire

SETTINGS: Final = {
    "num.partitions": str(PARTITIONS),
    "delete.topic.enable": "true",  # the default since 1.0
}

AGAIN: Final = ("-again", "-and-again")
"""Further attempts at a job: clients fail by chance, too, as kafka-python does, whose group of one may
rebalance without end on the embedded cluster."""


@contextlib.contextmanager
def cluster(broker: str, nodes: int) -> Iterator[str]:
    """Brokers of a version; their addresses."""
    running: EmbeddedCluster | ApacheCluster = (
        EmbeddedCluster(nodes)
        if broker == EMBEDDED
        else ApacheCluster(broker, nodes, settings=SETTINGS, timeout=60)
    )
    with running:
        yield running.bootstrap


def cells(
    broker: str, clients: Sequence[str], nodes: int, say: Callable[[str], None]
) -> Iterator[Cell]:
    """All cells of a broker, each when it is known."""
    say(f"{broker}: starting {nodes} brokers")
    with cluster(broker, nodes) as bootstrap:
        for client in clients:
            yield from _of_client(broker, client, bootstrap, say)


def _of_client(
    broker: str, client: str, bootstrap: str, say: Callable[[str], None]
) -> Iterator[Cell]:
    possible = []
    for job in JOBS:
        reason = gap(broker, client, job)
        if reason is None:
            possible.append(job)
        else:
            yield Cell(broker, client, job, Verdict.IMPOSSIBLE, reason)
    if not possible:
        return
    with wire(bootstrap) as wired, proxy(bootstrap) as running, ThreadPoolExecutor(2) as pool:
        for job in possible:
            say(f"{broker}: {client}, {job}")
            begun = time.monotonic()

            def compared(attempt: str, job: str = job) -> tuple[Verdict, str]:
                def on(side: str, where: str) -> Any:
                    name = f"{client}-{job}-{side}{attempt}"
                    asked = {"bootstrap": where, "version": number(broker), "name": name}
                    return pool.submit(run_client, client, job, asked)

                direct, proxied = on("direct", bootstrap), on("proxied", running.listen)
                return judge(direct.result(), proxied.result(), running.listeners)

            verdict, reason = compared("")
            for attempt in AGAIN:
                if verdict is not Verdict.DIFFERS:
                    break
                say(f"{broker}: {client}, {job}: once more, since it differs: {reason}")
                verdict, reason = compared(attempt)
            yield Cell(broker, client, job, verdict, reason, time.monotonic() - begun)
    for name, seen in (("proxy", running), ("wire", wired)):
        if complaints := _unknown(seen.complaints, UNREADABLE.get(broker, ())):
            yield Cell(broker, client, name, Verdict.UNREAD, complaints)
        if findings := _unknown(seen.findings, FOUND.get(broker, ())):
            yield Cell(broker, client, f"check, {name}", Verdict.WRONG, findings)
    if wired.trouble:
        say(f"{broker}: {client} not captured on the wire: {wired.trouble}")
    elif not wired.exchanges:
        yield Cell(broker, client, "wire", Verdict.UNREAD, "no exchange was captured")


def _unknown(said: Sequence[str], known: Sequence[str]) -> str:
    """All that is not known, in a line.

    >>> _unknown(["a: 1", "b"], [r"a: \\d"])
    'b'
    """
    return "; ".join(one for one in said if not any(re.fullmatch(text, one) for text in known))
