"""`barnabas explore`: the command; its options are in `options.py`."""

from __future__ import annotations

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes
from barnabas.cli.explore.options import ExploreOptions

explore_app = typer.Typer()


@explore_app.command(
    "explore",
    epilog=examples(
        "barnabas explore -b localhost:9092 -- python orders.py --topic 'orders-{run}'",
        "barnabas explore -b localhost:9092 --api Produce,EndTxn --per-api 5 -- ./orders",
        "barnabas explore -b localhost:9092 --expect 'orders:invoices-{run}' -- ./invoices",
        "barnabas explore -b localhost:9092 --scenario faults.yaml --json -- ./orders | jq .outcome",
        "barnabas explore -b localhost:9092 "
        "--only exploration/scenarios/017-Produce-after-the-broker-has-it.yaml -- ./orders",
    ),
)
@takes(ExploreOptions)
def explore_command(options: ExploreOptions) -> int:
    """Put a fault into each exchange of a program, one per run; compare its history with the log.

    Faults: the connection is cut, or the exchange gets an error that brokers may report there.
    """
    from barnabas.cli.explore.explore import Job, explore

    return explore(Job.of(options))
