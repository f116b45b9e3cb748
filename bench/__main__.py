"""`python -m bench`: run it, show the tables, and write the figures to a file if asked to."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from barnabas.peers.apache import UnavailableError
from bench import (
    accuracy,
    answering,
    batches,
    beginning,
    codecs,
    disk,
    endurance,
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
    writing,
)

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
  python -m bench --only page                the page in a browser, and what it costs: a minute
  python -m bench --only tests               until a test has its proxy: half a minute
  python -m bench --only pipeline            captures to tables on Spark, beside tshark
  python -m bench --only pipeline --sizes 64 512 2048
  python -m bench --only fuzz                cases of the fuzzer, beside boofuzz
  python -m bench --long                     only this: is memory flat over 10 million frames?
"""


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Speed of proxy, codecs, fuzzer, reading captures and pipeline, as ratios of one run.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument(
        "--only",
        choices=(
            "proxy",
            "tls",
            "codec",
            "real",
            "rules",
            "disk",
            "replay",
            "reading",
            "rows",
            "page",
            "tests",
            "pipeline",
            "fuzz",
        ),
        help="measure one of them",
    )
    parser.add_argument(
        "--beside",
        type=Path,
        metavar="BARNABAS",
        help="the barnabas of another installation, whose proxy is measured in the same run",
    )
    parser.add_argument(
        "--mib",
        type=int,
        metavar="N",
        help=f"TCP payload of each capture that is read ({reading.MIB_READ}; --quick: {reading.MIB_QUICK})",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        metavar="N",
        help="MiB of TCP payload of the captures that become tables"
        f" ({' '.join(map(str, pipelining.SIZES))}; --quick: {' '.join(map(str, pipelining.QUICK))})",
    )
    parser.add_argument(
        "--kind",
        choices=pipelining.KINDS,
        help="only captures as this one writes them become tables (both)",
    )
    parser.add_argument(
        "--long",
        type=int,
        nargs="?",
        const=endurance.FRAMES,
        metavar="FRAMES",
        help="a long run through one connection instead: does memory grow?",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the medians to a file")
    asked = parser.parse_args()
    console = Console()
    if not console.is_terminal:  # into a file or a pipe: the tables as wide as they are
        console = Console(width=120)
    rounds, seconds, slice_ = (2, 0.3, 0.01) if asked.quick else (5, 0.8, 0.05)
    console.print(f"machine: {machine.describe()}", highlight=False)
    found: dict[str, Any] = {"machine": machine.describe(), "rounds": rounds}
    if asked.long:
        with console.status("long run") as status:
            run = endurance.measure(asked.long, status.update)
        console.print(endurance.table(run))
        found["long"] = endurance.as_json(run)
    elif asked.only in (None, "codec"):
        with console.status("codecs") as status:
            tasks, remark = codecs.measure(max(rounds, 3), slice_, status.update)
        console.print(codecs.table(tasks, remark))
        found["codec"] = codecs.as_json(tasks)
        with console.status("batches") as status:
            batched, remark = batches.measure(max(rounds, 3), slice_, status.update)
        console.print(batches.table(batched, remark))
        found["batches"] = batches.as_json(batched)
        with console.status("making codecs") as status:
            made = generation.measure(max(rounds, 3), status.update)
        console.print(generation.table(made))
        found["generation"] = generation.as_json(made)
    if asked.only in (None, "proxy") and not asked.long:
        with console.status("proxy") as status:
            rows, remark = proxies.measure(rounds, seconds, status.update, asked.beside)
        console.print(*proxies.tables(rows, remark), sep="\n")
        found["proxy"] = proxies.as_json(rows)
    if asked.only in (None, "tls") and not asked.long:
        with console.status("TLS") as status:
            ended, remark = tls.measure(rounds, seconds, status.update, asked.beside)
        console.print(*tls.tables(ended, remark), sep="\n")
        found["tls"] = tls.as_json(ended)
    if asked.only in (None, "rules") and not asked.long:
        with console.status("rules") as status:
            costs = rule_cost.measure(4 * rounds, status.update)
            exact, remark = accuracy.measure(rounds, 5 * seconds, status.update)
        console.print(rule_cost.table(costs), *accuracy.tables(exact, remark), sep="\n")
        found["rules"] = {"cost": rule_cost.as_json(costs), **accuracy.as_json(exact)}
    if asked.only in (None, "disk") and not asked.long:
        size = 64 << 20 if asked.quick else 256 << 20
        with console.status("disk") as status:
            ways, remark = disk.measure(Path(tempfile.gettempdir()), size, status.update)
        console.print(disk.table(ways, size, remark))
        found["disk"] = disk.as_json(ways)
    if asked.only in (None, "replay") and not asked.long:
        with console.status("replay") as status:
            replayed = replaying.measure(rounds, status.update)
        console.print(replaying.table(replayed))
        found["replay"] = replaying.as_json(replayed)
    if asked.only in (None, "reading") and not asked.long:
        mib = asked.mib or (reading.MIB_QUICK if asked.quick else reading.MIB_READ)
        with console.status("reading") as status:
            read, remark = reading.measure((rounds + 1) // 2, mib << 20, status.update)
        console.print(*reading.tables(read, remark), sep="\n")
        found["reading"] = reading.as_json(read)
    if asked.only in (None, "rows") and not asked.long:
        with console.status("rows") as status:
            written = writing.measure(rounds, status.update)
        console.print(writing.table(written))
        found["rows"] = writing.as_json(written)
    if asked.only in (None, "page") and not asked.long:
        with console.status("page") as status:
            looked, remark = page.measure(rounds, 5 * seconds, status.update)
        console.print(page.table(looked), remark)
        found["page"] = page.as_json(looked)
    if asked.only in (None, "tests") and not asked.long:
        with console.status("tests") as status:
            begun = beginning.measure(40 * rounds, status.update)
        console.print(beginning.table(begun))
        found["tests"] = beginning.as_json(begun)
    if asked.only in (None, "pipeline") and not asked.long:
        sizes = asked.sizes or (pipelining.QUICK if asked.quick else pipelining.SIZES)
        kinds = (asked.kind,) if asked.kind else pipelining.KINDS
        with console.status("pipeline") as status:
            tabled, remark = pipelining.measure(1 + rounds // 5, sizes, kinds, status.update)
        console.print(*pipelining.tables(tabled, remark), sep="\n")
        found["pipeline"] = pipelining.as_json(tabled)
    if asked.only in (None, "fuzz") and not asked.long:
        with console.status("fuzz") as status:
            makers, remark = mutating.measure(rounds, 3 * seconds, status.update)
        console.print(mutating.table(makers, remark))
        with console.status("fuzz: cases executed") as status:
            executed, remark = executing.measure((rounds + 1) // 2, status.update)
        console.print(executing.table(executed, remark))
        with console.status("fuzz: clients") as status:
            count = answering.QUICK if asked.quick else answering.COUNT
            answered, remark = answering.measure(count, status.update)
        console.print(answering.table(answered, remark))
        with console.status("fuzz: shards") as status:
            scaled, remark = sharding.measure((rounds + 1) // 2, status.update)
        console.print(sharding.table(scaled, remark))
        found["fuzz"] = mutating.as_json(makers) | {
            "executed": executing.as_json(executed),
            "clients": answering.as_json(answered),
            "shards": sharding.as_json(scaled),
        }
    if asked.only in (None, "real") and not asked.long:
        found["real"] = measure_real(rounds, asked.quick, console)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")


def measure_real(rounds: int, quick: bool, console: Console) -> dict[str, Any]:
    """A real broker with its Java producer, where they can be had."""
    records, seconds = (50_000, 1.0) if quick else (300_000, 3.0)
    try:
        with console.status("real Kafka") as status:
            ways, remark = real_kafka.measure(rounds, records, seconds, status.update)
    except UnavailableError as problem:
        console.print(f"real Kafka: not measured: {problem}", highlight=False)
        return {}
    console.print(real_kafka.table(ways, remark))
    return real_kafka.as_json(ways)


if __name__ == "__main__":
    main()
