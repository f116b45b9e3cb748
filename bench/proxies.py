"""Measures each way to the server under each load, in interleaved rounds."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.table import Table

from bench import load, machine, many, server
from bench.table import beside, microseconds, percentile, plain_table
from bench.targets import Kind, Target, available, capture_folder, kinds

MOST: Final = 1 << 30
"""Bytes of one connection at most: a capture of them must find room."""

PATIENCE: Final = 30.0
"""Seconds after which a connection that should be over is given up."""

TRIP: Final = 400
"""Bytes of a request and its response, where round trips are measured."""

BULK: Final = ("produce 1 MiB", "produce 16 KiB", "fetch v15 1 MiB", "fetch v16 1 MiB")
LOADS: Final = (*BULK, "ping-pong", *many.CONNECTIONS)

_processes = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Cell:
    """Measurements of one kind of proxy under one load, a figure per round."""

    rates: list[float] = field(default_factory=list)
    """Bytes a second."""
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    bytes: int = 0
    cpu: float = 0.0

    def add(self, result: load.Result, cpu: float | None) -> None:
        """Add a round's result, and the CPU seconds that the proxy used for it."""
        self.rates.append(result.bytes / result.seconds)
        if result.latencies:
            self.p50.append(percentile(result.latencies, 50))
            self.p99.append(percentile(result.latencies, 99))
        self.bytes += result.bytes
        self.cpu += math.nan if cpu is None else cpu

    def figures(self) -> dict[str, float | None]:
        """Return the medians of the rounds, and the CPU time of all rounds."""
        return {
            "bytes_per_second": _median(self.rates),
            "p50_seconds": _median(self.p50),
            "p99_seconds": _median(self.p99),
            "cpu_seconds_per_gb": _known(self.cpu / (self.bytes / 1e9 or math.nan)),
        }


@dataclass(slots=True)
class Row:
    """One kind's cells by load, and the memory it had in the end."""

    kind: Kind
    cells: dict[str, Cell] = field(default_factory=lambda: {name: Cell() for name in LOADS})
    mib: float | None = None
    idle_kib: float | None = None
    """What each of many connections takes that are open and do nothing."""


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _median(values: list[float]) -> float | None:
    return median(values) if values else None


class Helper:
    """A process of the load generator."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        self.pipe, theirs = _processes.Pipe()
        self._process: BaseProcess = _processes.Process(target=work, args=(theirs,), daemon=True)
        self._process.start()

    def receive(self) -> Any:
        """Return the helper's next message. Raises the helper's exception, or TimeoutError."""
        if not self.pipe.poll(PATIENCE):
            raise TimeoutError("the load generator does not answer")
        output = self.pipe.recv()
        if isinstance(output, Exception):
            raise output
        return output

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.join()


def measure(
    rounds: int, seconds: float, progress: Callable[[str], None], beside: Path | None = None
) -> tuple[list[Row], str]:
    """All kinds under all loads, and a remark on what is missing and where captures went."""
    results, remarks = available(kinds(beside))
    folder = capture_folder(3 * MOST)
    progress(f"writing to {folder}, so that its memory is no new one")
    cold, warm = machine.write_rates(folder, 2 * MOST)
    remarks.append(
        f"captures: in {folder}, which takes {cold / 1e9:.1f} GB/s in memory that nobody has used and"
        f" {warm / 1e9:.1f} in memory used before"
    )
    refused = many.raise_limit()
    remarks += [refused] if refused else []
    names = [name for name in LOADS if not (refused and name in many.CONNECTIONS)]
    rows = [Row(kind) for kind in results]
    with contextlib.ExitStack() as stack:
        files = Path(tempfile.mkdtemp(prefix="barnabas-bench-", dir=folder))
        stack.callback(shutil.rmtree, files, ignore_errors=True)
        serving, client = Helper(server.serve), Helper(many.drive)
        stack.callback(serving.stop)
        stack.callback(client.stop)
        port = serving.receive()
        targets = [stack.enter_context(Target(kind, port, files)) for kind in results]
        if not refused:
            holder = Helper(many.hold)
            stack.callback(holder.stop)
            for row, target in zip(rows, targets, strict=True):
                progress(f"{many.IDLE:,} idle connections: {row.kind.name}")
                row.idle_kib = _measure_idle(target, holder)
        for number in range(rounds):
            for name in names:
                for row, target in zip(rows, targets, strict=True):
                    progress(f"round {number + 1} of {rounds}: {name}, {row.kind.name}")
                    _measure_one(row.cells[name], target, client, name, seconds)
        for row, target in zip(rows, targets, strict=True):
            kib = target.resident_kib()
            row.mib = None if kib is None else kib / 1024
    return rows, "; ".join(remarks)


def _measure_one(cell: Cell, target: Target, client: Helper, name: str, seconds: float) -> None:
    before = target.cpu_seconds()
    client.pipe.send((target.port, name, seconds, MOST))
    result = client.receive()
    after = target.cpu_seconds()
    cell.add(result, None if before is None or after is None else after - before)
    target.forget()


def _measure_idle(target: Target, holder: Helper) -> float | None:
    """KiB that a process grows by for each connection that is open, and has been used once."""
    resident = []
    for count in (10, many.IDLE + 10):  # the first ones make what all the others share
        holder.pipe.send((target.port, count))
        holder.receive()
        resident.append(target.resident_kib())
        holder.pipe.send(None)
        holder.receive()
    before, after = resident
    return None if before is None or after is None else (after - before) / many.IDLE


def tables(rows: list[Row], remark: str) -> list[Table]:
    """Tabulate the results; brackets hold the ratio to the direct connection of the same run."""
    title = "proxy: one connection over loopback, MB/s (ratio to direct)"
    bulk = plain_table(title, remark, ("", *BULK))
    title = "proxy: round trips of 200 bytes, one under way on each connection"
    at_once = (f"{name}, 1/s" for name in many.CONNECTIONS)
    trips = plain_table(title, columns=("", "p50 µs", "p99 µs", *at_once))
    costs = ("s/GB, 1 MiB", "s/GB, 16 KiB", "CPU µs a trip", "MiB in the end", "KiB an idle one")
    cost = plain_table("proxy: what it takes", columns=("", *costs))
    figures = [{name: cell.figures() for name, cell in row.cells.items()} for row in rows]
    direct = figures[0]
    for row, mine in zip(rows, figures, strict=True):
        rates = ((_of(mine[name], "rate"), _of(direct[name], "rate")) for name in BULK)
        bulk.add_row(row.kind.name, *(_beside(rate, 1e6, to) for rate, to in rates))
        times = (
            (_of(mine["ping-pong"], label), _of(direct["ping-pong"], label))
            for label in ("p50", "p99")
        )
        rates = ((_of(mine[name], "rate"), _of(direct[name], "rate")) for name in many.CONNECTIONS)
        trips.add_row(
            row.kind.name,
            *(beside(microseconds(took), took, to) for took, to in times),
            *(_beside(rate, TRIP, to) for rate, to in rates),
        )
        if row.kind.command:
            cost.add_row(
                row.kind.name,
                *(f"{_of(mine[name], 'cpu'):.2f}" for name in BULK[:2]),
                f"{_of(mine['ping-pong'], 'cpu') * TRIP / 1e3:.1f}",
                *("-" if n is None else f"{n:.0f}" for n in (row.mib, row.idle_kib)),
            )
    return [bulk, trips, cost]


def _beside(rate: float, unit: float, base: float) -> str:
    return "-" if math.isnan(rate) else beside(f"{rate / unit:,.0f}", rate, base)


_KEYS = {
    "rate": "bytes_per_second",
    "p50": "p50_seconds",
    "p99": "p99_seconds",
    "cpu": "cpu_seconds_per_gb",
}


def _of(figures: dict[str, float | None], label: str) -> float:
    value = figures[_KEYS[label]]
    return math.nan if value is None else value
