"""How fast captures become tables, and in how much memory: Spark on one and two cores, the pure core, tshark.

Each in a process of its own, in interleaved rounds, for captures of several sizes: cost is to grow with
the size, and memory is not. What starting takes is shown apart: for each way, what it takes for a capture
without traffic (Python, a JVM, and what that loads and compiles when it does something first).
To exchanges: the typed columns, which need some fields of the bodies; to bodies: all of them as VARIANT too.
Both as Parquet; tshark prints some of these columns as CSV. Then `barnabas decode --json`, and all that
`barnabas analyze` does on one core, on two and on a cluster of two workers with a core each: the goals are
ratios of these.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from rich.table import Table

from bench import machine, recordings
from bench.recordings import Recording
from bench.table import beside, plain_table
from bench.tabling import CLUSTER, ONE_CORE, Spans
from bench.talk import SERVER
from bench.targets import capture_folder

SIZES: Final = (64, 256)
QUICK: Final = (64,)
"""MiB of payload of the captures, unless told otherwise."""

KINDS: Final = {name.partition(".")[0]: kind for kind, (name, _) in recordings.KINDS.items()}
"""Kinds of captures, by who writes them so."""

TIMEOUT: Final = 1800.0

TSHARK: Final = "tshark to CSV"
FIELDS: Final = (
    *("frame.number", "frame.time_epoch", "tcp.stream"),
    *("ip.src", "tcp.srcport", "ip.dst", "tcp.dstport"),
    *("kafka.len", "kafka.api_key", "kafka.api_version", "kafka.correlation_id", "kafka.client_id"),
    *("kafka.topic_name", "kafka.partition_id", "kafka.error", "kafka.required_acks"),
    *("kafka.consumer_group", "kafka.member_id", "kafka.generation_id", "kafka.producer_id"),
)
"""What tshark prints: as much of the typed columns as it has. A frame in each line, not an exchange."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way from a capture to tables, as a command that the file is put into."""

    name: str
    command: tuple[str, ...]
    behind: tuple[str, ...] = ()
    """What stands in the command behind the file."""

    @property
    def missing(self) -> str | None:
        """Return the reason why this way can't be measured here, or None."""
        return None if shutil.which(self.command[0]) else f"{self.command[0]}: not on the path"

    def run(self, recording: Recording, empty: Recording) -> tuple[Spans, str]:
        """Go it once, and a remark if tshark did not find all. Raises RuntimeError if ours did not."""
        if self.name == TSHARK:
            return self._tshark(recording, empty)
        start, whole = self._ours(empty), self._ours(recording)
        spans = whole._replace(
            start_seconds=whole.start_seconds + start.seconds,
            start_cpu=whole.start_cpu + start.cpu,
            seconds=whole.seconds - start.seconds,
            cpu=whole.cpu - start.cpu,
        )
        if spans.rows != recording.exchanges:
            raise RuntimeError(f"{self.name} has {spans.rows:,} rows of {recording.exchanges:,}")
        return spans, ""

    def _ours(self, of: Recording) -> Spans:
        cost = machine.cost([*self.command, str(of.path), *self.behind], TIMEOUT)
        return Spans(**json.loads(cost.output))

    def _tshark(self, recording: Recording, empty: Recording) -> tuple[Spans, str]:
        start = machine.cost([*self.command, str(empty.path)], TIMEOUT)
        whole = machine.cost([*self.command, str(recording.path)], TIMEOUT)
        frames, meant = frames_of(whole.output), 2 * recording.exchanges
        took = whole.seconds - start.seconds, whole.cpu - start.cpu
        spans = Spans(frames // 2, start.seconds, start.cpu, *took, whole.peak_mib, 0.0, 0.0)
        return spans, "" if frames == meant else f"tshark found {frames:,} frames of {meant:,}"


def frames_of(output: str) -> int:
    """Count the frames in tshark's output: the keys of one packet's frames are comma-separated.

    Only requests have keys of their own; tshark fills in that of a response.

    >>> frames_of('"1","0.1","0","a","1","b","2","9,9","0,3"')
    2
    """
    at = FIELDS.index("kafka.api_key")
    return sum(line[at].count(",") + 1 for line in csv.reader(output.splitlines()) if line[at])


def _ours(name: str, contestant: str, *master: str) -> Way:
    return Way(name, (sys.executable, "-m", "bench.tabling", contestant), master)


WAYS: Final = (
    Way(
        TSHARK,
        (
            *("tshark", "-d", f"tcp.port=={SERVER[1]},kafka", "-Y", "kafka"),
            *("-T", "fields", "-E", "separator=,", "-E", "quote=d"),
            *(word for name in FIELDS for word in ("-e", name)),
            "-r",
        ),
    ),
    _ours("exchanges: pure core", "pure-exchanges"),
    _ours("  Spark, 1 core", "spark-exchanges", ONE_CORE),
    _ours("  Spark, 2 cores", "spark-exchanges", "local[2]"),
    _ours("bodies: pure core", "pure-bodies"),
    _ours("  Spark, 1 core", "spark-bodies", ONE_CORE),
    _ours("  Spark, 2 cores", "spark-bodies", "local[2]"),
    _ours("decode --json", "pure-decode"),
    _ours("analyze: Spark, 1 core", "spark-analyze", ONE_CORE),
    _ours("  Spark, 2 cores", "spark-analyze", "local[2]"),
    _ours("  cluster, 2 workers of 1 core", "spark-analyze", CLUSTER),
)
"""What is compared with comes first."""


class Goal(NamedTuple):
    """A goal for a figure, computed from `decode --json` and from analyze on one and two cores."""

    label: str
    of: Callable[[Mapping[str, float], Mapping[str, float], Mapping[str, float]], float]
    bound: float
    least: bool = False
    """Whether it is to be so much at least; else less than that."""


GOALS: Final = (
    Goal("analyze on one core, times decode --json",
         lambda decode, one, _: one["whole_seconds"] / decode["whole_seconds"], 3),
    Goal("analyze on two cores, times faster than on one",
         lambda _, one, two: one["whole_seconds"] / two["whole_seconds"], 1.7, least=True),
    Goal("share of findings in it, on two cores",
         lambda _, __, two: two["findings_seconds"] / two["whole_seconds"], 0.25),
    Goal("peak of the JVM on two cores, MiB", lambda _, __, two: two["jvm_mib"], 1024),
)  # fmt: skip
"""For 2 GiB in segments of 1,448 bytes."""


@dataclass(slots=True)
class Row:
    """Measurements of one way on a capture, a figure per round."""

    kind: str
    mib: int
    """Payload of the capture."""
    contestant: Way
    size: int
    """Bytes of the file."""
    spans: list[Spans] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Medians of the rounds, and the highest peaks."""
        seconds, cpu, start, start_cpu = (
            median(getattr(row, name) for row in self.spans)
            for name in ("seconds", "cpu", "start_seconds", "start_cpu")
        )
        return {
            "file_bytes": self.size,
            "bytes_per_second": self.size / seconds if seconds > 0 else math.nan,
            "seconds": seconds,
            "cpu_seconds_per_gb": cpu / self.size * 1e9 if cpu > 0 else math.nan,
            "start_seconds": start,
            "start_cpu_seconds": start_cpu,
            "whole_seconds": seconds + start,
            "findings_seconds": median(row.findings_seconds for row in self.spans),
            **{
                name: max(getattr(row, name) for row in self.spans)
                for name in ("driver_mib", "jvm_mib", "worker_mib")
            },
        }


def measure(
    rounds: int, sizes: Sequence[int], writers: Iterable[str], progress: Callable[[str], None]
) -> tuple[list[Row], str]:
    """Make captures of so many MiB of payload, and go all ways that are here. writers: of KINDS."""
    ways = [contestant for contestant in WAYS if not contestant.missing]
    remarks = {contestant.missing: None for contestant in WAYS if contestant.missing}
    rows: list[Row] = []
    for kind in map(KINDS.__getitem__, writers):
        name, make = recordings.KINDS[kind]
        for mib in sizes:
            with tempfile.TemporaryDirectory(
                prefix="barnabas-bench-", dir=capture_folder(3 * mib << 20)
            ) as folder:
                progress(f"{kind}: making a capture of {mib:,} MiB")
                empty = make(Path(folder) / f"empty-{name}", 0)
                made = make(Path(folder) / name, mib << 20)
                mine = [Row(kind, mib, contestant, made.size) for contestant in ways]
                for number in range(rounds):
                    for row in mine:
                        label = f"{row.contestant.name.strip()}, round {number + 1} of {rounds}"
                        progress(f"{kind}, {mib:,} MiB: {label}")
                        spans, remark = row.contestant.run(made, empty)
                        row.spans.append(spans)
                        remarks |= {remark: None} if remark else {}
                rows += mine
    return rows, "; ".join(map(str, remarks))


def tables(rows: list[Row], remark: str) -> list[Table]:
    """Tabulate each capture; speeds are compared with tshark's if it is installed."""
    captures = dict.fromkeys((row.kind, row.mib) for row in rows)
    return [
        made
        for one in captures
        for mine in ([row for row in rows if (row.kind, row.mib) == one],)
        for made in (_table(mine, *one, remark), goals(mine))
        if made is not None
    ]


def goals(rows: list[Row]) -> Table | None:
    """Whether a capture's figures are as they are to be; None: not all was measured."""
    results = {_key(row): row.figures() for row in rows}
    names = ("pure-decode", f"spark-analyze {ONE_CORE}", "spark-analyze local[2]")
    if not all(name in results for name in names):
        return None
    shown = plain_table("analyze", "goals are for 2 GiB in segments", ("", "figure", "goal", ""))
    for goal in GOALS:
        figure = goal.of(*(results[name] for name in names))
        met = figure >= goal.bound if goal.least else figure < goal.bound
        output = f"{'at least' if goal.least else 'less than'} {goal.bound:,g}"
        shown.add_row(goal.label, f"{figure:,.2f}", output, "met" if met else "missed")
    return shown


def _key(row: Row) -> str:
    """Return the last words of the command."""
    label = " ".join(row.contestant.command[-1:] + row.contestant.behind)
    return TSHARK if row.contestant.name == TSHARK else label


def _table(rows: list[Row], kind: str, mib: int, remark: str) -> Table:
    caption = f"in brackets times tshark; starting (a capture without traffic) is not in it. {remark}".strip()
    peaks = {"peak MiB": "driver_mib", "JVM": "jvm_mib", "worker": "worker_mib"}
    columns = ("", "MB/s", "CPU s/GB", "seconds", "start, s", "CPU s", *peaks)
    shown = plain_table(f"a capture to tables: {kind}, {mib:,} MiB", caption, columns)
    base = next((row.figures() for row in rows if row.contestant.name == TSHARK), {})
    for row in rows:
        results = row.figures()
        speed, cpu = (
            beside(_shown(results[name] / unit, places), results[name], base.get(name, math.nan))
            for name, unit, places in (
                ("bytes_per_second", 1e6, 1),
                ("cpu_seconds_per_gb", 1, 1),
            )
        )
        times = (
            _shown(results[name], 1) for name in ("seconds", "start_seconds", "start_cpu_seconds")
        )
        memory = (f"{results[name]:,.0f}" if results[name] else "-" for name in peaks.values())
        shown.add_row(row.contestant.name, speed, cpu, *times, *memory)
    return shown


def _shown(value: float, places: int) -> str:
    return "-" if math.isnan(value) else f"{value:,.{places}f}"
