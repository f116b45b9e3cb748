"""`python -m tests.compat`: run the table and print it; 0 if all is the same on both sides, else 1."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from rich.console import Console

from tests.compat import table
from tests.compat.cells import Cell
from tests.compat.plan import BROKERS, CLIENTS
from tests.compat.rows import cells
from tests.interrupts import children_hear_interrupts

EXAMPLES = """\
examples:
  python -m tests.compat                                   all of it: about ten minutes
  python -m tests.compat --brokers 4.3.1 0.8.2.2 --clients confluent-kafka java
  python -m tests.compat --brokers librdkafka --json | jq .
"""


def main() -> int:
    """Run what was asked for."""
    children_hear_interrupts()
    parser = argparse.ArgumentParser(
        prog="python -m tests.compat",
        description="Clients and brokers of many versions, directly and through the proxy.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--brokers", nargs="+", choices=BROKERS, default=BROKERS)
    parser.add_argument("--clients", nargs="+", choices=CLIENTS, default=list(CLIENTS))
    parser.add_argument("--nodes", type=int, default=3, help="brokers in a cluster (3)")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each cell")
    asked = parser.parse_args()
    if asked.nodes < 1:
        parser.error(f"a cluster of {asked.nodes} brokers")

    progress = Console(stderr=True, highlight=False)
    found: list[Cell] = []
    with progress.status("") as status:
        for broker in asked.brokers:
            for cell in cells(broker, asked.clients, asked.nodes, status.update):
                found.append(cell)
                line = f"{cell.broker} {cell.client} {cell.workload}: {cell.verdict} {cell.reason}"
                progress.print(f"{line} ({cell.seconds:.1f} s)", markup=False, soft_wrap=True)
                if asked.json:
                    print(json.dumps(dataclasses.asdict(cell)), flush=True)
    if not asked.json:
        print(table.markdown(found), *(f"- {note}" for note in table.notes(found)), sep="\n")
    return 0 if all(cell.fine for cell in found) else 1


if __name__ == "__main__":
    sys.exit(main())
