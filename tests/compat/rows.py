"""A broker with all clients: the cluster, a proxy for each client, each workload on both sides at once."""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from barnabas.experiments.clients.broker_versions import librdkafka_settings
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import PARTITIONS
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.embedded import EmbeddedCluster
from tests.compat.cells import Cell, Side, Verdict, judge
from tests.compat.connections import ABLE
from tests.compat.plan import (
    FOUND,
    LIBRDKAFKA,
    SLOW_REBALANCE,
    UNREADABLE,
    WORKLOADS,
    gap,
    makes,
    prepared,
    version_of,
    wanted,
)
from tests.compat.plan import work as work_of
from tests.compat.processes import proxy, wire
from tests.compat.sides import side

SETTINGS: Final = {
    "num.partitions": str(PARTITIONS),
    "delete.topic.enable": "true",  # the default since 1.0
    "group.max.session.timeout.ms": "1800000",  # the default now; 0.9 has less than librdkafka asks for
}

UNREPLICATED: Final = {
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "offsets.topic.replication.factor": "1",
}
"""For 0.11.0.1, whose coordinators come to a deadlock when several transactions wait for replicas."""

AT_ONCE: Final = 3
"""Workloads of a client: most of their time clients wait."""

ATTEMPTS: Final = 3
"""At a workload: clients fail by chance, too, as kafka-python does, whose group of one may rebalance without
end on librdkafka's mock."""


def _settings(broker: str) -> dict[str, str]:
    return SETTINGS | UNREPLICATED if broker == "0.11.0.1" else SETTINGS


@contextlib.contextmanager
def cluster(broker: str, nodes: int) -> Iterator[str]:
    """Brokers of a version; their addresses."""
    running: EmbeddedCluster | ApacheCluster = (
        EmbeddedCluster(nodes)
        if broker == LIBRDKAFKA
        else ApacheCluster(broker, nodes, settings=_settings(broker), timeout=60)
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
    for workload in WORKLOADS:
        reason = gap(broker, client, workload)
        if reason is None:
            possible.append(workload)
        else:
            yield Cell(broker, client, workload, Verdict.IMPOSSIBLE, reason)
    if not possible:
        return
    try:
        program = prepared(broker, client)
    except UnavailableClientError as problem:
        yield from (
            Cell(broker, client, each, Verdict.IMPOSSIBLE, str(problem)) for each in possible
        )
        return
    with (
        wire(bootstrap) as wired,
        proxy(bootstrap) as running,
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(2 * AT_ONCE) as sides,
        ThreadPoolExecutor(AT_ONCE) as pool,
        _stopping() as stop,
    ):
        reached = set[str]()

        def compared(workload: str, attempt: int) -> tuple[Verdict, str]:
            def on(name: str, where: str) -> Future[Side]:
                kept = Path(folder) / f"{workload}-{name}-{attempt}"
                place = TrialSetup(
                    bootstrap, kept, makes(broker), librdkafka_settings(version_of(broker))
                )
                work = work_of(broker, client, workload)
                return sides.submit(side, program, wanted(workload), place, where, work, stop)

            direct = on("direct", bootstrap.partition(",")[0])
            proxied = on("proxied", running.listen).result()
            reached.update(proxied.addresses)
            return judge(direct.result(), proxied, running.listeners)

        def cell(workload: str) -> Cell:
            begun = time.monotonic()
            verdict, reason = compared(workload, 0)
            for attempt in range(1, ATTEMPTS):
                if verdict is not Verdict.DIFFERS:
                    break
                say(f"{broker}: {client}, {workload}: once more, since it differs: {reason}")
                verdict, reason = compared(workload, attempt)
            return Cell(broker, client, workload, verdict, reason, time.monotonic() - begun)

        say(f"{broker}: {client}")
        yield from pool.map(cell, possible)
        listeners = running.listeners
    if beyond := running.told - listeners:
        said = f"the client was told {', '.join(sorted(beyond))}"
        yield Cell(broker, client, "addresses", Verdict.BYPASSED, said)
    elif ABLE and not reached:
        yield Cell(broker, client, "addresses", Verdict.BYPASSED, "the client was nowhere at all")
    for name, seen in (("proxy", running), ("wire", wired)):
        if complaints := _unknown(seen.complaints, UNREADABLE.get(broker, ())):
            yield Cell(broker, client, name, Verdict.UNREAD, complaints)
        rightly = (*FOUND, SLOW_REBALANCE) if broker == LIBRDKAFKA else FOUND
        if findings := _unknown(seen.findings, rightly):
            yield Cell(broker, client, f"check, {name}", Verdict.WRONG, findings)
    if wired.trouble:
        say(f"{broker}: {client} not captured on the wire: {wired.trouble}")
    elif not wired.exchanges:
        yield Cell(broker, client, "wire", Verdict.UNREAD, "no exchange was captured")


@contextlib.contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Set at its end: programs that still run are to end then."""
    stop = threading.Event()
    try:
        yield stop
    finally:
        stop.set()


def _unknown(said: Sequence[str], known: Sequence[str]) -> str:
    """All that is not known, in a line.

    >>> _unknown(["a: 1", "b"], [r"a: \\d"])
    'b'
    """
    return "; ".join(one for one in said if not any(re.fullmatch(text, one) for text in known))
