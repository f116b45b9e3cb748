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
        """Why it can't be measured here."""
        if not shutil.which(self.command[0]):
            return f"{self.command[0]}: not on the path"
        if self.name in ("dpkt", "scapy") and not importlib.util.find_spec(self.name):
            return f"{self.name}: not installed"
        return None

    def count(self, output: str) -> int:
        """What it printed, as a number."""
        if self.counts != "keys":
            return int(output)
        return sum(line.count(",") + 1 for line in output.splitlines() if line)


def _python(name: str, way: str, counts: str, **parts: int) -> Way:
    command = (sys.executable, "-m", "bench.readers", way)
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
    """What a way took for captures of a kind, a figure a round."""

    kind: str
    way: Way
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
            median(getattr(one, name) for one in self.costs)
            - median(getattr(one, name) for one in self.starts)
            for name in ("seconds", "cpu")
        )
        return {
            "file_bytes": self.size,
            "bytes_per_second": self.size / seconds if seconds > 0 else math.nan,
            "cpu_seconds_per_gb": cpu / self.size * 1e9 if cpu > 0 else math.nan,
            "start_seconds": median(one.seconds for one in self.starts),
            "peak_mib": max(one.peak_mib for one in self.costs),
            "peak_mib_of_a_quarter": self.quarter,
        }


def measure(rounds: int, size: int, progress: Callable[[str], None]) -> tuple[list[Row], str]:
    """Make captures of both kinds, with so many bytes of payload, and read them all ways that are here."""
    ways = [way for way in WAYS if not way.missing]
    remarks = {way.missing: None for way in WAYS if way.missing}
    rows: list[Row] = []
    for kind in recordings.KINDS:
        with tempfile.TemporaryDirectory(
            prefix="barnabas-bench-", dir=capture_folder(2 * size)
        ) as folder:
            made = _make(kind, ways, size, Path(folder), progress)
            mine = [Row(kind, way, made[way.parts[kind]].size) for way in ways]
            for number in range(rounds):
                for row in mine:
                    progress(f"{kind}: {row.way.name.strip()}, round {number + 1} of {rounds}")
                    parts = row.way.parts[kind]
                    row.starts.append(read_once(row.way, made[EMPTY])[0])
                    cost, remark = read_once(row.way, made[parts])
                    row.costs.append(cost)
                    remarks |= {remark: None} if remark else {}
                    if not number:
                        row.quarter = read_once(row.way, made[parts * 4])[0].peak_mib
            rows += mine
    return rows, "; ".join(map(str, remarks))


def _make(
    kind: str, ways: list[Way], size: int, folder: Path, progress: Callable[[str], None]
) -> dict[int, Recording]:
    """By how many times they are smaller: the captures that somebody reads, and an empty one."""
    name, make = recordings.KINDS[kind]
    made = {EMPTY: make(folder / f"empty-{name}", 0)}
    for parts in sorted({way.parts[kind] * times for way in ways for times in (1, 4)}):
        progress(f"{kind}: making a capture of {size // parts >> 20:,} MiB")
        made[parts] = make(folder / f"{parts}-{name}", size // parts)
    return made


def read_once(way: Way, recording: Recording) -> tuple[Cost, str]:
    """Read it once. Raises RuntimeError if ours has not found what is in it; of others it is a remark."""
    cost = machine.cost([*way.command, str(recording.path)], TIMEOUT)
    found = way.count(cost.output)
    meant = recording.payload if way.counts == "payload" else recording.exchanges
    if way.counts == "keys":
        meant *= 2
    if found == meant:
        return cost, ""
    problem = f"{way.name.strip()} found {found:,} of {meant:,}"
    if way.name == TSHARK:
        return cost, problem
    raise RuntimeError(problem)


def tables(rows: list[Row], remark: str) -> list[Table]:
    """A table for each kind of capture; speeds beside that of tshark, if it is here."""
    return [
        _table(kind, [row for row in rows if row.kind == kind], remark) for kind in recordings.KINDS
    ]


def _table(kind: str, rows: list[Row], remark: str) -> Table:
    caption = f"in brackets times tshark; without the start of the process. {remark}".strip()
    columns = ("", "file, MiB", "MB/s", "CPU s/GB", "peak MiB", "with 1/4 of it")
    shown = plain_table(f"reading a capture: {kind}", caption, columns)
    bases = [row.figures() for row in rows if row.way.name == TSHARK]
    for row in rows:
        found = row.figures()
        speed, cpu = (
            beside(text, found[name], bases[0][name] if bases else math.nan)
            for name, text in (
                ("bytes_per_second", _shown(found["bytes_per_second"] / 1e6, 0)),
                ("cpu_seconds_per_gb", _shown(found["cpu_seconds_per_gb"], 1)),
            )
        )
        peaks = (f"{found[name]:,.0f}" for name in ("peak_mib", "peak_mib_of_a_quarter"))
        shown.add_row(row.way.name, f"{row.size >> 20:,}", speed, cpu, *peaks)
    return shown


def _shown(value: float, places: int) -> str:
    return "-" if math.isnan(value) else f"{value:,.{places}f}"
