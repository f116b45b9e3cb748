"""`--only tls`: TLS ended on both sides, by us and by others, beside one TLS connection without a proxy."""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Final

from rich.table import Table

from bench import load, many, opening, server, tls_targets
from bench.load import Result
from bench.proxies import MOST, TRIP, Cell, Helper
from bench.table import beside, plain_table
from bench.targets import Kind, Target, available

SEVERAL: Final = 4
"""Connections under the same load at once: what more than one thread or process is for."""

BULK: Final = (
    "produce 1 MiB",
    "produce 16 KiB",
    f"produce 1 MiB, {SEVERAL} connections",
    "produce 16 KiB, SASL_SSL",
)
UNITS: Final = {"64 connections": TRIP, "new connections": 1, "new connections, SASL_SSL": 1}
"""The other loads, and the bytes of each thing that is counted."""

LOADS: Final = (*BULK, *UNITS)


@dataclass(slots=True)
class Row:
    """One kind's cells by load."""

    kind: Kind
    cells: dict[str, Cell] = field(default_factory=lambda: {name: Cell() for name in LOADS})


def drive(folder: Path, pipe: Connection) -> None:
    """Run the client's process: (port, name of a load, seconds) in, a Result out."""
    while job := pipe.recv():
        try:
            pipe.send(run(folder, *job))
        except (OSError, ValueError) as problem:
            pipe.send(RuntimeError(f"{job[1]}: {problem}"))


def run(folder: Path, port: int, name: str, seconds: float) -> Result:
    """One load, on connections with TLS by the certificates in a folder."""
    connect: opening.Connect = partial(tls_targets.connect, folder)
    name, _, how = name.partition(", ")
    if how == "SASL_SSL":
        connect = opening.authenticated(connect)
    if name == "new connections":
        return opening.run(port, seconds, connect)
    if name in many.CONNECTIONS:
        return many.run(port, many.CONNECTIONS[name], seconds, connect)
    count = SEVERAL if how.endswith("connections") else 1
    with ThreadPoolExecutor(count) as threads:
        jobs = [threads.submit(load.run, port, name, seconds, MOST, connect) for _ in range(count)]
        results = [job.result() for job in jobs]
    longest = max(result.seconds for result in results)
    return Result(longest, sum(result.bytes for result in results), results[0].latencies)


def measure(
    rounds: int, seconds: float, progress: Callable[[str], None], beside: Path | None = None
) -> tuple[list[Row], str]:
    """All kinds under all loads, in interleaved rounds, and a remark on who is missing."""
    results, remarks = available(tls_targets.kinds(beside))
    rows = [Row(kind) for kind in results]
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="barnabas-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        tls_targets.write_certificates(folder)
        serving = Helper(partial(server.serve, ready=partial(tls_targets.accept, folder)))
        client = Helper(partial(drive, folder))
        stack.callback(serving.stop)
        stack.callback(client.stop)
        port = serving.receive()
        targets = [stack.enter_context(Target(kind, port, folder)) for kind in results]
        for number in range(rounds):
            for name in LOADS:
                for row, target in zip(rows, targets, strict=True):
                    progress(f"TLS, round {number + 1} of {rounds}: {name}, {row.kind.name}")
                    before = target.cpu_seconds()
                    client.pipe.send((target.port, name, seconds))
                    result = client.receive()
                    after = target.cpu_seconds()
                    cpu = None if before is None or after is None else after - before
                    row.cells[name].add(result, cpu)
    return rows, "; ".join([f"{tls_targets.CIPHER}, sessions are not resumed", *remarks])


def tables(rows: list[Row], remark: str) -> list[Table]:
    """Tabulate the results; brackets hold the ratio to the direct connection of the same run."""
    rates = ("", *(f"{name}, 1/s" for name in UNITS))
    costs = ("", "s/GB, 1 MiB", "s/GB, 16 KiB", "µs a round trip", "ms a new connection")
    label = "TLS ended on both sides"
    bulk = plain_table(f"{label}: MB/s (ratio to direct)", remark, ("", *BULK))
    small = plain_table(f"{label}: round trips of 200 bytes, connections opened", columns=rates)
    cost = plain_table(f"{label}: CPU of the proxy", columns=costs)
    for row in rows:
        bulk.add_row(row.kind.name, *(_rate(rows, row, name, 1e6) for name in BULK))
        small.add_row(
            row.kind.name, *(_rate(rows, row, name, unit) for name, unit in UNITS.items())
        )
        if row.kind.command:
            cost.add_row(
                row.kind.name,
                *(f"{_cpu(row, name) * 1e9:.2f}" for name in BULK[:2]),
                f"{_cpu(row, '64 connections') * TRIP * 1e6:.1f}",
                f"{_cpu(row, 'new connections') * 1e3:.2f}",
            )
    return [bulk, small, cost]


def _rate(rows: list[Row], row: Row, name: str, unit: float) -> str:
    mine, direct = (median(one.cells[name].rates) for one in (row, rows[0]))
    return beside(f"{mine / unit:,.0f}", mine, direct)


def _cpu(row: Row, name: str) -> float:
    """Seconds of the proxy for each byte, or connection."""
    cell = row.cells[name]
    return cell.cpu / (cell.bytes or math.nan)
