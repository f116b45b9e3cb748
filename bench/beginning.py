"""How long a test waits for its proxy: one of `barnabas serve-tests`, and one that is started for it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from barnabas.peers.embedded import EmbeddedCluster
from barnabas.testing.kafka_proxy import start_proxy
from bench.table import percentile, plain_table
from tests.barnabas.testing.server.served import server

Measured = dict[str, list[float]]
"""Seconds, by the way."""

SERVED, STARTED = "serve-tests: POST /v1/tests", "barnabas proxy, a process"


def measure(tests: int, report: Callable[[str], None]) -> Measured:
    """Run tests one after the other, and a tenth as many processes, and measure their starts."""
    results: Measured = {SERVED: [], STARTED: []}
    with EmbeddedCluster(1) as cluster, server("-b", cluster.bootstrap) as serving:
        for number in range(tests):
            report(f"{number} of {tests} tests")
            begun = time.perf_counter()
            test = serving.begin(name=f"t{number}")
            results[SERVED].append(time.perf_counter() - begun)
            serving.ask("DELETE", f"/tests/{test['id']}")
        for number in range(tests // 10):
            report(f"{number} of {tests // 10} processes")
            with tempfile.TemporaryDirectory() as folder:
                begun = time.perf_counter()
                with start_proxy(cluster.bootstrap, Path(folder)):
                    results[STARTED].append(time.perf_counter() - begun)
    return results


def table(measured: Measured) -> Table:
    """Milliseconds until a test has its proxy."""
    title = "until a test has its proxy, in ms"
    shown = plain_table(title, columns=("", "tests", "p50", "p99", "slowest"))
    for contestant, times in measured.items():
        figures = (percentile(times, 50), percentile(times, 99), max(times))
        shown.add_row(contestant, str(len(times)), *(f"{1000 * row:.1f}" for row in figures))
    return shown
