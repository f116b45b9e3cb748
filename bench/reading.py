"""How fast captures are read, and in how much memory: ours stage by stage, tshark, dpkt and scapy.

Each reads in a process of its own, in interleaved rounds. Who is slow reads a smaller capture of the same
traffic; what a process takes for one without traffic is taken off, so that sizes compare. Each reads one of
a quarter of the size too: where memory is bounded, the peaks are the same.
"""

from __future__ import annotations

import importlib.util
import math
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from rich.table import Table

from bench import machine, recordings
from bench.machine import Cost
from bench.recordings import Recording
from bench.table import beside, plain_table
from bench.talk import SERVER
from bench.targets import capture_folder

MIB_READ: Final = 1024
MIB_QUICK: Final = 256
"""Payload of the captures, unless told otherwise."""

TIMEOUT: Final = 900.0
EMPTY: Final = 0
"""Stands for a capture of which every part would be empty."""
PROXY, TCPDUMP = recordings.KINDS
TSHARK: Final = "tshark -Y kafka"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to read a capture: a command, to which the file is added."""

    name: str
    command: tuple[str, ...]
    counts: str
    """What it prints: the "payload" or "exchanges" of the capture; "keys": one of an API for each frame."""
    parts: dict[str, int] = field(default_factory=dict)
    """By kind of capture: it reads one that is so many times smaller."""

    @property
    def missing(self) -> str | None:
        """Return the reason why this way can't be measured here, or None."""
        if not shutil.which(self.command[0]):
            return f"{self.command[0]}: not on the path"
        if self.name in ("dpkt", "scapy") and not importlib.util.find_spec(self.name):
            return f"{self.name}: not installed"
        return None

    def count(self, output: str) -> int:
        """Parse a command's output as a number."""
        if self.counts != "keys":
            return int(output)
        return sum(line.count(",") + 1 for line in output.splitlines() if line)


def _python(name: str, contestant: str, counts: str, **parts: int) -> Way:
    command = (sys.executable, "-m", "bench.readers", contestant)
    return Way(
        name, command, counts, {PROXY: parts["of"], TCPDUMP: parts.get("segments", parts["of"])}
    )


WAYS: Final = (
    Way(
        TSHARK,
        (
            *("tshark", "-d", f"tcp.port=={SERVER[1]},kafka", "-Y", "kafka"),
            *("-T", "fields", "-e", "kafka.api_key", "-r"),
        ),
        "keys",
        {PROXY: 1, TCPDUMP: 4},
    ),
    _python("dpkt", "dpkt", "payload", of=1, segments=4),
    _python("scapy", "scapy", "payload", of=4, segments=64),
    _python("barnabas: packets", "packets", "payload", of=1),
    _python("  streams", "streams", "payload", of=1),
    _python("  exchanges", "exchanges", "exchanges", of=1),
    _python("  bodies", "bodies", "exchanges", of=4),
    _python("  records", "records", "exchanges", of=4),
)
"""What is compared with comes first."""


@dataclass(slots=True)
class Row:
    """Measurements of one way on captures of a kind, a figure per round."""

    kind: str
    contestant: Way
    size: int
    """Bytes of the file."""
    costs: list[Cost] = field(default_factory=list)
    starts: list[Cost] = field(default_factory=list)
    """With a capture in which nothing is said."""
    quarter: float = math.nan
    """The peak with a capture of a quarter of the size, in MiB."""

    def figures(self) -> dict[str, float]:
        """Medians of the rounds, and the highest peak; no number where all went into the start."""
        seconds, cpu = (
            median(getattr(row, name) for row in self.costs)
            - median(getattr(row, name) for row in self.starts)
            for name in ("seconds", "cpu")
        )
        return {
            "file_bytes": self.size,
            "bytes_per_second": self.size / seconds if seconds > 0 else math.nan,
            "cpu_seconds_per_gb": cpu / self.size * 1e9 if cpu > 0 else math.nan,
            "start_seconds": median(row.seconds for row in self.starts),
            "peak_mib": max(row.peak_mib for row in self.costs),
            "peak_mib_of_a_quarter": self.quarter,
        }


def measure(rounds: int, size: int, progress: Callable[[str], None]) -> tuple[list[Row], str]:
    """Make captures of both kinds, with so many bytes of payload, and read them all ways that are here."""
    ways = [contestant for contestant in WAYS if not contestant.missing]
    remarks = {contestant.missing: None for contestant in WAYS if contestant.missing}
    rows: list[Row] = []
    for kind in recordings.KINDS:
        with tempfile.TemporaryDirectory(
            prefix="barnabas-bench-", dir=capture_folder(2 * size)
        ) as folder:
            made = _make(kind, ways, size, Path(folder), progress)
            mine = [Row(kind, contestant, made[contestant.parts[kind]].size) for contestant in ways]
            for number in range(rounds):
                for row in mine:
                    progress(
                        f"{kind}: {row.contestant.name.strip()}, round {number + 1} of {rounds}"
                    )
                    parts = row.contestant.parts[kind]
                    row.starts.append(read_once(row.contestant, made[EMPTY])[0])
                    cost, remark = read_once(row.contestant, made[parts])
                    row.costs.append(cost)
                    remarks |= {remark: None} if remark else {}
                    if not number:
                        row.quarter = read_once(row.contestant, made[parts * 4])[0].peak_mib
            rows += mine
    return rows, "; ".join(map(str, remarks))


def _make(
    kind: str, ways: list[Way], size: int, folder: Path, progress: Callable[[str], None]
) -> dict[int, Recording]:
    """Write the captures for all ways, by divisor of their size, and an empty one."""
    name, make = recordings.KINDS[kind]
    made = {EMPTY: make(folder / f"empty-{name}", 0)}
    for parts in sorted(
        {contestant.parts[kind] * times for contestant in ways for times in (1, 4)}
    ):
        progress(f"{kind}: making a capture of {size // parts >> 20:,} MiB")
        made[parts] = make(folder / f"{parts}-{name}", size // parts)
    return made


def read_once(contestant: Way, recording: Recording) -> tuple[Cost, str]:
    """Read it once. Raises RuntimeError if ours has not found what is in it; of others it is a remark."""
    cost = machine.cost([*contestant.command, str(recording.path)], TIMEOUT)
    results = contestant.count(cost.output)
    meant = recording.payload if contestant.counts == "payload" else recording.exchanges
    if contestant.counts == "keys":
        meant *= 2
    if results == meant:
        return cost, ""
    problem = f"{contestant.name.strip()} found {results:,} of {meant:,}"
    if contestant.name == TSHARK:
        return cost, problem
    raise RuntimeError(problem)


def tables(rows: list[Row], remark: str) -> list[Table]:
    """Tabulate each kind of capture; speeds are compared with tshark's if it is installed."""
    return [
        _table(kind, [row for row in rows if row.kind == kind], remark) for kind in recordings.KINDS
    ]


def _table(kind: str, rows: list[Row], remark: str) -> Table:
    caption = f"in brackets times tshark; without the start of the process. {remark}".strip()
    columns = ("", "file, MiB", "MB/s", "CPU s/GB", "peak MiB", "with 1/4 of it")
    shown = plain_table(f"reading a capture: {kind}", caption, columns)
    bases = [row.figures() for row in rows if row.contestant.name == TSHARK]
    for row in rows:
        results = row.figures()
        speed, cpu = (
            beside(text, results[name], bases[0][name] if bases else math.nan)
            for name, text in (
                ("bytes_per_second", _shown(results["bytes_per_second"] / 1e6, 0)),
                ("cpu_seconds_per_gb", _shown(results["cpu_seconds_per_gb"], 1)),
            )
        )
        peaks = (f"{results[name]:,.0f}" for name in ("peak_mib", "peak_mib_of_a_quarter"))
        shown.add_row(row.contestant.name, f"{row.size >> 20:,}", speed, cpu, *peaks)
    return shown


def _shown(value: float, places: int) -> str:
    return "-" if math.isnan(value) else f"{value:,.{places}f}"
