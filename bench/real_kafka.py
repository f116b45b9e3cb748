"""A real broker and the Java producer: direct, through other proxies, through ours.

Throughput is what Kafka's own tool says (org.apache.kafka.tools.ProducerPerformance, settings as
kafka-producer-perf-test has them, acks=1). It counts latency in whole ms, so that is measured by a
producer that sends at a fixed rate, from send to acknowledgement.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from rich.table import Table

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.client import JavaClient
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import LOGGER
from bench.table import beside, percentile, plain_table
from bench.targets import BARNABAS, BETWEEN, CAPTURE, Kind, Target, available, capture_folder, ours
from tests.ports import free_port, free_ports

VERSION: Final = "3.9.1"
TOOL: Final = "org.apache.kafka.tools.ProducerPerformance"
HOST: Final = "127.0.0.1"
TOPIC: Final = "bench"
SIZE: Final = 1024
"""Bytes of a record."""

RATE: Final = 1000
"""Records a second where latency is measured."""

BROKER: Final = {
    # what our clusters save is given back: Kafka's own defaults
    "num.network.threads": "3",
    "num.io.threads": "8",
    "num.partitions": "6",
    # several GB pass: keep little of it
    "log.segment.bytes": str(64 << 20),
    "log.retention.bytes": str(64 << 20),
    "log.retention.check.interval.ms": "2000",
    "log.segment.delete.delay.ms": "1000",
}

OURS: Final = {
    "barnabas": (),
    "  with capture": CAPTURE,
    "  with --control": ("--control", f"{HOST}:{{control}}"),
}
"""Its ways, all with the log off."""

OTHERS: Final = [kind for kind in BETWEEN if kind.command]
"""Those that forward one port."""

_RESULT: Final = re.compile(r"^(\d+) records sent, ([\d.]+) records/sec .* 99\.9th\.$")


@dataclass(slots=True)
class Way:
    """A way to the broker, and a figure a round."""

    name: str
    bootstrap: str
    target: Target | None = None
    """The proxy."""
    rates: list[float] = field(default_factory=list)
    """Records a second."""
    p50: list[float] = field(default_factory=list)
    """Of the latency, in microseconds."""
    p99: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """CPU seconds of the proxy for a million records, at full speed."""

    def figures(self) -> dict[str, float]:
        """Return the medians of the rounds; NaN for unknown figures."""
        lists = {
            "records_per_second": self.rates,
            "p50_us": self.p50,
            "p99_us": self.p99,
            "cpu_seconds_per_million": self.cpu,
        }
        return {name: median(values) if values else math.nan for name, values in lists.items()}


def measure(
    rounds: int, records: int, seconds: float, progress: Callable[[str], None]
) -> tuple[list[Way], str]:
    """All ways in turn, round by round, and a remark on what is missing.

    records: at full speed, for each way and round; seconds: at the fixed rate. Raises
    UnavailableError if Java or Kafka can't be had.
    """
    progress(f"Kafka {VERSION}")
    jars = class_path((f"org.apache.kafka:kafka-tools:{VERSION}", LOGGER))
    tool = [str(java()), "-Xmx512m", "-cp", os.pathsep.join(str(jar) for jar in jars), TOOL]
    others, missing = available(OTHERS)
    with contextlib.ExitStack() as stack:
        folder = capture_folder(2 * records * SIZE)
        files = Path(tempfile.mkdtemp(prefix="barnabas-bench-", dir=folder))
        stack.callback(shutil.rmtree, files, ignore_errors=True)
        ways = list(_ways(stack, files, others))
        client = stack.enter_context(JavaClient(VERSION, {"acks": "1"}))
        progress("warming up")
        _full_speed(Way("warm-up", ways[0].bootstrap), tool, min(records, 50_000))
        _fixed_rate(Way("warm-up", ways[0].bootstrap), client, seconds)
        # first the quiet half: for a while after the other one the system writes GBs to disk
        for number in range(rounds):
            for contestant in ways:
                progress(
                    f"round {number + 1} of {rounds}: {contestant.name.strip()}, {RATE} records/s"
                )
                _fixed_rate(contestant, client, seconds)
        for number in range(rounds):
            for contestant in ways:
                progress(f"round {number + 1} of {rounds}: {contestant.name.strip()}, full speed")
                _full_speed(contestant, tool, records)
    return ways, "; ".join([f"Kafka {VERSION}, records of {SIZE} bytes, acks=1", *missing])


def _ways(stack: contextlib.ExitStack, files: Path, others: Sequence[Kind]) -> Iterator[Way]:
    """Start a broker and everything in front of it.

    What forwards one port only has a listener of the broker to itself, which is advertised under the
    address of the forwarder: or clients would go round it.
    """
    ports = free_ports(2 * len(others))
    pairs = list(zip(ports[::2], ports[1::2], strict=True))
    mine = {"PLAINTEXT": ("{port}", "{port}"), "CONTROLLER": ("{controller_port}", "")}
    names = (kind.name.upper() for kind in others)
    listeners = mine | dict(zip(names, pairs, strict=True))
    settings = {
        "listeners": ",".join(f"{n}://{HOST}:{port}" for n, (port, _) in listeners.items()),
        "advertised.listeners": ",".join(
            f"{name}://{HOST}:{public}" for name, (_, public) in listeners.items() if public
        ),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in listeners),
        "inter.broker.listener.name": "PLAINTEXT",
    }
    cluster = stack.enter_context(ApacheCluster(VERSION, settings=BROKER | settings))
    yield Way("direct", cluster.bootstrap)
    (broker,) = cluster.brokers.values()
    ours_ = [
        (ours(name, BARNABAS, "--log", "off", *options), broker[1], free_port())
        for name, options in OURS.items()
    ]
    theirs = [(kind, *pair) for kind, pair in zip(others, pairs, strict=True)]
    for kind, upstream, listen in (*theirs, *ours_):
        target = stack.enter_context(Target(kind, upstream, files, listen=listen))
        yield Way(kind.name, f"{HOST}:{listen}", target)


def _full_speed(contestant: Way, tool: list[str], records: int) -> None:
    numbers = ("--num-records", str(records), "--record-size", str(SIZE), "--throughput", "-1")
    properties = ("--producer-props", f"bootstrap.servers={contestant.bootstrap}", "acks=1")
    before = _cpu_seconds(contestant)
    done = subprocess.run(
        [*tool, "--topic", TOPIC, *numbers, *properties],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    sent, rate = result(done.stdout)
    if sent != records:
        raise RuntimeError(
            f"{contestant.name}: {sent} of {records} records: {done.stdout}{done.stderr}"
        )
    contestant.rates.append(rate)
    used = _cpu_seconds(contestant) - before
    if not math.isnan(used):
        contestant.cpu.append(used * 1e6 / records)
    if contestant.target is not None:
        contestant.target.forget()


def _cpu_seconds(contestant: Way) -> float:
    used = None if contestant.target is None else contestant.target.cpu_seconds()
    return math.nan if used is None else used


def result(output: str) -> tuple[int, float]:
    """Parse records and records per second from the last line of ProducerPerformance; 0 if it has none.

    >>> result("9 records sent, 30.5 records/sec (0.03 MB/sec), 2.50 ms avg latency, 7.00 ms max "
    ...        "latency, 2 ms 50th, 6 ms 95th, 7 ms 99th, 7 ms 99.9th.")
    (9, 30.5)
    >>> result("9 records sent, 30.5 records/sec (0.03 MB/sec), 2.5 ms avg latency, 7.0 ms max latency.")
    (0, 0.0)
    """
    results = [matched for line in output.splitlines() if (matched := _RESULT.match(line.strip()))]
    return (int(results[-1][1]), float(results[-1][2])) if results else (0, 0.0)


def _fixed_rate(contestant: Way, client: JavaClient, seconds: float) -> None:
    count = max(int(seconds * RATE), 1)
    settings = {"bootstrap.servers": contestant.bootstrap}
    took = client.pace(TOPIC, count, size=SIZE, rate=RATE, settings=settings)
    contestant.p50.append(percentile(took, 50))
    contestant.p99.append(percentile(took, 99))
    if contestant.target is not None:
        contestant.target.forget()


def table(ways: list[Way], remark: str) -> Table:
    """Tabulate the medians; brackets hold the ratio to direct."""
    columns = ("", "records/s", f"p50 µs at {RATE:,}/s", "p99 µs", "CPU s a million")
    shown = plain_table("real Kafka: the Java producer (ratio to direct)", remark, columns)
    direct = ways[0].figures()
    for contestant in ways:
        mine = contestant.figures()
        cells = [
            beside(f"{mine[name]:,.0f}", mine[name], direct[name])
            for name in ("records_per_second", "p50_us", "p99_us")
        ]
        cpu = mine["cpu_seconds_per_million"]
        shown.add_row(contestant.name, *cells, "-" if math.isnan(cpu) else f"{cpu:.2f}")
    return shown
