"""What an exchange costs that is written: as a line in colours or a row of JSON, and by `decode --json`.

Lines and rows are of the samples, with the decoding of their bodies; to read them and to learn from them is
not counted. `decode` reads a capture of small exchanges, in a process of its own, of which the start is taken
off. All is time of the processor.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from rich.table import Table

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from bench import machine, recordings
from bench.load import MIB
from bench.table import microseconds, plain_table
from bench.talk import small
from tests.places import SAMPLES

LINE: Final = "a line in colours"
ROW: Final = "a row of JSON"
DECODE: Final = "decode --json"

SIZE: Final = 32 * MIB
"""TCP payload of the capture of small exchanges."""

TIMEOUT: Final = 300.0
COMMAND: Final = (
    *("sh", "-c", 'exec "$@" > /dev/null 2>&1', "sh"),
    *(sys.executable, "-m", "barnabas", "decode", "--json"),
)

WAYS: Final[dict[str, Callable[[Output, Exchange], object]]] = {
    LINE: Output.exchange,
    ROW: Output.row,
}


def measure(rounds: int, progress: Callable[[str], None]) -> dict[str, list[float]]:
    """Seconds that an exchange takes, in each round."""
    results: dict[str, list[float]] = {name: [] for name in (*WAYS, DECODE)}
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as folder:
        empty = recordings.as_proxy(Path(folder) / "empty.pcapng", 0, small)
        full = recordings.as_proxy(Path(folder) / "full.pcapng", SIZE, small)
        for write in WAYS.values():
            _samples(write)  # makes the codecs
        for number in range(rounds):
            progress(f"rows: round {number + 1} of {rounds}")
            for name, write in WAYS.items():
                results[name].append(_samples(write))
            start, cost = (
                machine.cost([*COMMAND, str(made.path)], TIMEOUT).cpu for made in (empty, full)
            )
            results[DECODE].append((cost - start) / full.exchanges)
    return results


def _samples(write: Callable[[Output, Exchange], object]) -> float:
    """Seconds for an exchange of the samples."""
    spent, count = 0.0, 0
    for path in sorted(SAMPLES.glob("*.pcap*")):
        terminal = Terminal(file=io.StringIO(), force_terminal=True, width=120)
        output = Output(out=terminal, at_once=False)
        capture = open_capture(path, context=output.context)
        exchanges = list(capture.learn(capture.exchanges(inferred=True)))
        begun = time.process_time()
        for exchange in exchanges:
            write(output, exchange)
        spent += time.process_time() - begun
        count += len(exchanges)
    return spent / count


def table(results: dict[str, list[float]]) -> Table:
    """Tabulate each way to write."""
    caption = "time of the processor, µs"
    shown = plain_table("an exchange that is written", caption, ("", "median", "least"))
    for name, costs in results.items():
        shown.add_row(name, microseconds(median(costs)), microseconds(min(costs)))
    return shown
