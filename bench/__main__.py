"""`python -m bench`: run it, show the tables, and write them to a file if asked to."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from barnabas.peers.apache import UnavailableError
from bench import (
    accuracy,
    answering,
    batches,
    beginning,
    codecs,
    disk,
    executing,
    generation,
    machine,
    mutating,
    page,
    pipelining,
    proxies,
    reading,
    real_kafka,
    replaying,
    rule_cost,
    sharding,
    tls,
    views,
    writing,
)
from bench.table import as_json

Progress = Callable[[str], None]

EXAMPLES = """\
examples:
  python -m bench                            all of it, a part after the other
  python -m bench --quick                    fewer and shorter rounds
  python -m bench --only codec
  python -m bench --only proxy --json figures.json
  python -m bench --only tls                 TLS and SASL_SSL, beside HAProxy and stunnel
  python -m bench --only real                the Java producer and a real broker
  python -m bench --only rules               exactness of delays, cost of rules: a minute
  python -m bench --only disk                ways to write a long capture: a minute
  python -m bench --only replay              a capture into a sink
  python -m bench --only reading             captures of 1 GiB, beside tshark: 4 to 5 minutes
  python -m bench --only rows                rows and lines, and decode: a minute
  python -m bench --only page                the page in a browser, what it costs, and its views: two minutes
  python -m bench --only tests               until a test has its proxy: half a minute
  python -m bench --only pipeline            captures to tables on Spark, beside tshark
  python -m bench --only pipeline --sizes 64 512 2048
  python -m bench --only fuzz                cases of the fuzzer, beside boofuzz
"""


class Options(argparse.Namespace):
    """The options of `python -m bench`."""

    quick: bool
    only: str | None
    beside: Path | None
    mib: int | None
    sizes: list[int] | None
    kind: str | None
    json: Path | None

    @property
    def rounds(self) -> int:
        """Return how many rounds each contestant runs."""
        return 2 if self.quick else 5

    @property
    def seconds(self) -> float:
        """The length of a turn on a connection."""
        return 0.3 if self.quick else 0.8

    @property
    def slice(self) -> float:
        """The length of a codec's turn, in seconds."""
        return 0.01 if self.quick else 0.05


def _codecs(options: Options, progress: Progress) -> Iterable[Table]:
    rounds = max(options.rounds, 3)
    yield codecs.table(*codecs.measure(rounds, options.slice, progress))
    yield batches.table(*batches.measure(rounds, options.slice, progress))
    yield generation.table(generation.measure(rounds, progress))


def _rules(options: Options, progress: Progress) -> Iterable[Table]:
    yield rule_cost.table(rule_cost.measure(4 * options.rounds, progress))
    yield from accuracy.tables(*accuracy.measure(options.rounds, 5 * options.seconds, progress))


def _disk(options: Options, progress: Progress) -> Iterable[Table]:
    size = 64 << 20 if options.quick else 256 << 20
    ways, remark = disk.measure(Path(tempfile.gettempdir()), size, progress)
    yield disk.table(ways, size, remark)


def _reading(options: Options, progress: Progress) -> Iterable[Table]:
    mib = options.mib or (reading.MIB_QUICK if options.quick else reading.MIB_READ)
    return reading.tables(*reading.measure((options.rounds + 1) // 2, mib << 20, progress))


def _page(options: Options, progress: Progress) -> Iterable[Table]:
    yield page.table(*page.measure(options.rounds, 5 * options.seconds, progress))
    yield views.table(views.measure(options.rounds, progress))


def _pipeline(options: Options, progress: Progress) -> Iterable[Table]:
    sizes = options.sizes or (pipelining.QUICK if options.quick else pipelining.SIZES)
    kinds = (options.kind,) if options.kind else pipelining.KINDS
    return pipelining.tables(*pipelining.measure(1 + options.rounds // 5, sizes, kinds, progress))


def _fuzz(options: Options, progress: Progress) -> Iterable[Table]:
    some = (options.rounds + 1) // 2
    yield mutating.table(*mutating.measure(options.rounds, 3 * options.seconds, progress))
    yield executing.table(*executing.measure(some, progress))
    count = answering.QUICK if options.quick else answering.COUNT
    yield answering.table(*answering.measure(count, progress))
    yield sharding.table(*sharding.measure(some, progress))


def _real(options: Options, progress: Progress) -> Iterable[Table]:
    """Measure a real broker with its Java producer."""
    records, seconds = (50_000, 1.0) if options.quick else (300_000, 3.0)
    yield real_kafka.table(*real_kafka.measure(options.rounds, records, seconds, progress))


PARTS: Final[dict[str, Callable[[Options, Progress], Iterable[Table]]]] = {
    "codec": _codecs,
    "proxy": lambda asked, progress: proxies.tables(
        *proxies.measure(asked.rounds, asked.seconds, progress, asked.beside)
    ),
    "tls": lambda asked, progress: tls.tables(
        *tls.measure(asked.rounds, asked.seconds, progress, asked.beside)
    ),
    "rules": _rules,
    "disk": _disk,
    "replay": lambda asked, progress: [replaying.table(replaying.measure(asked.rounds, progress))],
    "reading": _reading,
    "rows": lambda asked, progress: [writing.table(writing.measure(asked.rounds, progress))],
    "page": _page,
    "tests": lambda asked, progress: [
        beginning.table(beginning.measure(40 * asked.rounds, progress))
    ],
    "pipeline": _pipeline,
    "fuzz": _fuzz,
    "real": _real,
}


def options() -> Options:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Speed of proxy, codecs, fuzzer, reading captures and pipeline, as ratios of one run.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer and shorter rounds")
    add("--only", choices=PARTS, help="measure one of them")
    add(
        "--beside",
        type=Path,
        metavar="BARNABAS",
        help="the barnabas of another installation, whose proxy is measured in the same run",
    )
    add(
        "--mib",
        type=int,
        metavar="N",
        help=f"TCP payload of each capture that is read ({reading.MIB_READ}; --quick: {reading.MIB_QUICK})",
    )
    add(
        "--sizes",
        type=int,
        nargs="+",
        metavar="N",
        help="MiB of TCP payload of the captures that become tables"
        f" ({' '.join(map(str, pipelining.SIZES))}; --quick: {' '.join(map(str, pipelining.QUICK))})",
    )
    add(
        "--kind",
        choices=pipelining.KINDS,
        help="only captures as this one writes them become tables (both)",
    )
    add("--json", type=Path, metavar="FILE", help="write the tables to a file")
    return parser.parse_args(namespace=Options())


def main() -> None:
    """Measure what was asked for."""
    asked = options()
    console = Console()
    if not console.is_terminal:  # into a file or a pipe: the tables as wide as they are
        console = Console(width=120)
    console.print(f"machine: {machine.describe()}", highlight=False)
    results: dict[str, object] = {"machine": machine.describe(), "rounds": asked.rounds}
    parts = {asked.only: PARTS[asked.only]} if asked.only else PARTS
    for name, part in parts.items():
        try:
            with console.status(name) as status:
                tables = list(part(asked, status.update))
        except UnavailableError as problem:
            console.print(f"{name}: not measured: {problem}", highlight=False)
            continue
        console.print(*tables, sep="\n")
        results[name] = {str(table.title): as_json(table) for table in tables}
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
