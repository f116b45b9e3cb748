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

from tests.bench import load
from tests.bench.table import beside, microseconds, percentile, plain_table
from tests.bench.targets import Kind, Target, available, capture_folder

MOST: Final = 1 << 30
"""Bytes of one connection at most: a capture of them must find room."""

PATIENCE: Final = 30.0
"""Seconds after which a connection that should be over is given up."""

BULK: Final = ("produce 1 MiB", "produce 16 KiB", "fetch v15 1 MiB", "fetch v16 1 MiB")
LOADS: Final = (*BULK, "ping-pong")

_processes = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Cell:
    """What one kind did under one load, a figure a round."""

    rates: list[float] = field(default_factory=list)
    """Bytes a second."""
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    bytes: int = 0
    cpu: float = 0.0

    def add(self, result: load.Result, cpu: float | None) -> None:
        """A round's result, and the CPU seconds that the proxy used for it."""
        self.rates.append(result.bytes / result.seconds)
        if result.latencies:
            self.p50.append(percentile(result.latencies, 50))
            self.p99.append(percentile(result.latencies, 99))
        self.bytes += result.bytes
        self.cpu += math.nan if cpu is None else cpu

    def figures(self) -> dict[str, float | None]:
        """The medians of the rounds."""
        return {
            "bytes_per_second": _median(self.rates),
            "p50_seconds": _median(self.p50),
            "p99_seconds": _median(self.p99),
            "cpu_seconds_per_gb": None if math.isnan(self.cpu) else self.cpu / (self.bytes / 1e9),
        }


@dataclass(slots=True)
class Row:
    """One kind's cells by load, and the most memory it had."""

    kind: Kind
    cells: dict[str, Cell] = field(default_factory=lambda: {name: Cell() for name in LOADS})
    peak_mib: float | None = None


def _median(values: list[float]) -> float | None:
    return median(values) if values else None


class Helper:
    """A process of the load generator."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        self.pipe, theirs = _processes.Pipe()
        self._process: BaseProcess = _processes.Process(target=work, args=(theirs,), daemon=True)
        self._process.start()

    def receive(self) -> Any:
        """What it says next. Raises what it raised, or TimeoutError."""
        if not self.pipe.poll(PATIENCE):
            raise TimeoutError("the load generator does not answer")
        said = self.pipe.recv()
        if isinstance(said, Exception):
            raise said
        return said

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.join()


def measure(rounds: int, seconds: float, progress: Callable[[str], None]) -> tuple[list[Row], str]:
    """All kinds under all loads, and a remark on what is missing and where captures went."""
    kinds, remarks = available()
    folder = capture_folder(3 * MOST)
    remarks.append(f"captures: in {folder}")
    rows = [Row(kind) for kind in kinds]
    with contextlib.ExitStack() as stack:
        files = Path(tempfile.mkdtemp(prefix="barnabas-bench-", dir=folder))
        stack.callback(shutil.rmtree, files, ignore_errors=True)
        server, client = Helper(load.serve), Helper(load.drive)
        stack.callback(server.stop)
        stack.callback(client.stop)
        port = server.receive()
        targets = [stack.enter_context(Target(kind, port, files)) for kind in kinds]
        for number in range(rounds):
            for name in LOADS:
                for row, target in zip(rows, targets, strict=True):
                    progress(f"round {number + 1} of {rounds}: {name}, {row.kind.name}")
                    _measure_one(row.cells[name], target, client, name, seconds)
        for row, target in zip(rows, targets, strict=True):
            row.peak_mib = target.peak_mib()
    return rows, "; ".join(remarks)


def _measure_one(cell: Cell, target: Target, client: Helper, name: str, seconds: float) -> None:
    before = target.cpu_seconds()
    client.pipe.send((target.port, name, seconds, MOST))
    result = client.receive()
    after = target.cpu_seconds()
    cell.add(result, None if before is None or after is None else after - before)
    target.forget()


def tables(rows: list[Row], remark: str) -> list[Table]:
    """The results; in brackets the ratio to the direct connection of the same run."""
    bulk = plain_table("proxy: one connection over loopback, MB/s (ratio to direct)", remark)
    rest = plain_table(
        "proxy: round trips of 200 bytes (ratio to direct), cost of 1 MiB Produce, memory"
    )
    for shown, names in ((bulk, BULK), (rest, ("p50 µs", "p99 µs", "CPU s/GB", "peak MiB"))):
        shown.add_column("", no_wrap=True)
        for name in names:
            shown.add_column(name, justify="right")
    figures = [{name: cell.figures() for name, cell in row.cells.items()} for row in rows]
    direct = figures[0]
    for row, mine in zip(rows, figures, strict=True):
        rates = ((_of(mine[name], "rate"), _of(direct[name], "rate")) for name in BULK)
        bulk.add_row(row.kind.name, *(beside(f"{rate / 1e6:,.0f}", rate, to) for rate, to in rates))
        trips = (
            (_of(mine["ping-pong"], what), _of(direct["ping-pong"], what))
            for what in ("p50", "p99")
        )
        cpu = _of(mine["produce 1 MiB"], "cpu")
        rest.add_row(
            row.kind.name,
            *(beside(microseconds(took), took, to) for took, to in trips),
            "-" if math.isnan(cpu) else f"{cpu:.2f}",
            "-" if row.peak_mib is None else f"{row.peak_mib:.0f}",
        )
    return [bulk, rest]


_KEYS = {
    "rate": "bytes_per_second",
    "p50": "p50_seconds",
    "p99": "p99_seconds",
    "cpu": "cpu_seconds_per_gb",
}


def _of(figures: dict[str, float | None], what: str) -> float:
    value = figures[_KEYS[what]]
    return math.nan if value is None else value


def as_json(rows: list[Row]) -> dict[str, Any]:
    """The medians, for a file."""
    return {
        row.kind.name: {
            "peak_mib": row.peak_mib,
            **{name: cell.figures() for name, cell in row.cells.items()},
        }
        for row in rows
    }
