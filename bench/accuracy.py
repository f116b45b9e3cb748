"""How exact delays and rates are: what was asked for against what a client measures.

A delay's error is what a round trip took beyond the median of the same round trips without the rule,
less the delay. The other traffic goes through the same proxy, on a connection of its own, and no rule
is about it.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.table import Table

from bench import many, server
from bench.load import DELAYED, THROTTLED, TIMEOUT, Result, loads, receive
from bench.proxies import Helper
from bench.table import microseconds, percentile, plain_table
from bench.targets import BARNABAS, TOXIPROXY, Target, capture_folder, ours

DELAY_MS: Final = 20
RATE: Final = 20_000_000
"""Bytes a second that the throttle lets through."""

OTHERS: Final = 200_000_000
"""Bytes a second of the other traffic."""

SIZES: Final = ("64 B", "1 MiB")
FILLER: Final = "produce 1 MiB"

RULES: Final = f"""\
version: 1
rules:
  - name: delayed
    match: {{api: Produce, version: {DELAYED}, direction: request}}
    do: {{delay: {DELAY_MS}ms}}
  - name: throttled
    match: {{api: Produce, version: {THROTTLED}, direction: request}}
    do: {{throttle: {{bytes: {RATE}B}}}}
"""

KINDS: Final = (ours("barnabas", BARNABAS, "--log", "off", "--scenario", "{scenario}"), TOXIPROXY)


@dataclass(frozen=True, slots=True)
class Delays:
    """The errors of one kind of delayed messages, in seconds, and what else passed meanwhile."""

    kind: str
    size: str
    others: float
    """Bytes a second of other traffic, as they were measured."""
    errors: list[float]
    early: int
    """Round trips that took less than the delay: none, if nothing ever leaves early."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """All that was measured."""

    delays: list[Delays]
    rates: list[float]
    """Bytes a second through the throttle, a figure a round."""


def measure(rounds: int, seconds: float, progress: Callable[[str], None]) -> tuple[Accuracy, str]:
    """Delays of both sizes, alone and beside other traffic, of all that is here; and the throttle."""
    results = Accuracy([], [])
    missing = [
        f"{kind.missing}: its latency toxic is not compared" for kind in KINDS if kind.missing
    ]
    with contextlib.ExitStack() as stack:
        files = Path(tempfile.mkdtemp(prefix="barnabas-bench-", dir=capture_folder(1 << 20)))
        stack.callback(shutil.rmtree, files, ignore_errors=True)
        helpers = serving, client, filler = Helper(server.serve), Helper(many.drive), Helper(fill)
        for helper in helpers:
            stack.callback(helper.stop)
        port = serving.receive()
        targets = [
            (kind, stack.enter_context(Target(kind, port, files, RULES)))
            for kind in KINDS
            if not kind.missing
        ]
        for kind, target in targets:
            slow = target.port if kind is not TOXIPROXY else toxic(target.control, port)
            for busy in (False, True):
                for size in SIZES:
                    progress(f"{kind.name}: delays of {size}{' beside other traffic' * busy}")
                    with _beside(filler, target.port, busy) as others:
                        plain = _run(client, target.port, f"plain {size}", seconds / 4)
                        name = f"{'delayed' if kind is not TOXIPROXY else 'plain'} {size}"
                        late = _run(client, slow, name, seconds)
                    errors = delay_errors(late.latencies, plain.latencies, DELAY_MS / 1e3)
                    early = sum(took < DELAY_MS / 1e3 for took in late.latencies)
                    results.delays.append(Delays(kind.name, size, others[0], errors, early))
        for number in range(rounds):
            progress(f"throttle: round {number + 1} of {rounds}")
            result = _run(client, targets[0][1].port, "throttled 16 KiB", min(seconds, 2))
            results.rates.append(result.bytes / result.seconds)
    return results, "; ".join(missing)


def delay_errors(late: list[float], plain: list[float], delay: float) -> list[float]:
    """Return the error of each delayed round trip, in seconds.

    The error is its time less the median without delay and less the delay.

    >>> delay_errors([0.0215], [0.001, 0.001, 0.007], 0.02)
    [0.0005]
    """
    usual = median(plain)
    return [round(took - usual - delay, 9) for took in late]


def _run(client: Helper, port: int, name: str, seconds: float) -> Result:
    client.pipe.send((port, name, seconds, 1 << 40))
    result: Result = client.receive()
    return result


@contextlib.contextmanager
def _beside(filler: Helper, port: int, busy: bool) -> Iterator[list[float]]:
    """Other traffic as long as this lasts; how much it was is in the list then."""
    results: list[float] = []
    if busy:
        filler.pipe.send(port)
        filler.receive()
    yield results
    if busy:
        filler.pipe.send(None)
    results.append(filler.receive() if busy else 0.0)


def fill(pipe: Connection) -> None:
    """Send background traffic from a process of its own.

    The pipe receives a port; the process sends None when traffic flows, ends at the next message, and sends
    the rate in
    bytes a second.
    """
    load = loads()[FILLER]
    size = load.count * load.request_size
    buffer = memoryview(bytearray(len(load.responses)))
    while port := pipe.recv():
        try:
            with socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
                sock.sendall(load.requests)
                receive(sock, buffer)
                pipe.send(None)
                begun = time.perf_counter()
                sent = 0
                while not pipe.poll(max(begun + sent / OTHERS - time.perf_counter(), 0)):
                    sock.sendall(load.requests)
                    receive(sock, buffer)
                    sent += size
                pipe.recv()
                pipe.send(sent / (time.perf_counter() - begun))
        except OSError as problem:
            pipe.send(problem)


def toxic(control: int, upstream: int) -> int:
    """Add a proxy with a latency toxic to a running toxiproxy, and return its port."""
    proxy = {"name": "slow", "listen": "127.0.0.1:0", "upstream": f"127.0.0.1:{upstream}"}
    made = _tell(control, "/proxies", proxy)
    latency = {"latency": DELAY_MS, "jitter": 0}
    _tell(
        control,
        "/proxies/slow/toxics",
        {"type": "latency", "stream": "upstream", "attributes": latency},
    )
    return int(str(made["listen"]).rpartition(":")[2])


def _tell(control: int, path: str, label: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{control}{path}",
        json.dumps(label).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        results: dict[str, Any] = json.load(answer)
        return results


def tables(results: Accuracy, remark: str) -> list[Table]:
    """Errors of delays, and of the throttle."""
    title = f"rules: error of a delay of {DELAY_MS} ms, µs"
    caption = f"beyond the median round trip without it. {remark}".strip()
    columns = ("", "message", "other traffic", "n", "p50", "p99", "early")
    shown = plain_table(title, caption, columns)
    for row in results.delays:
        others = f"{row.others / 1e6:,.0f} MB/s" if row.others else "none"
        figures = (_signed(percentile(row.errors, percent)) for percent in (50, 99))
        count = f"{len(row.errors)}"
        shown.add_row(row.kind, row.size, others, count, *figures, f"{row.early}")
    rate = plain_table("rules: throttle, 16 KiB messages")
    for name in ("asked, MB/s", "measured", "error"):
        rate.add_column(name, justify="right")
    measured = median(results.rates) if results.rates else math.nan
    error = f"{measured / RATE - 1:+.2%}"
    rate.add_row(f"{RATE / 1e6:.2f}", f"{measured / 1e6:.2f}", error)
    return [shown, rate]


def _signed(seconds: float) -> str:
    return f"-{microseconds(-seconds)}" if seconds < 0 else microseconds(seconds)
