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
        "barnabas explore -b localhost:9092 --scenario faults.yaml --json -- ./orders | jq .outcome",
        "barnabas explore -b localhost:9092 "
        "--only exploration/scenarios/017-Produce-after-the-broker-has-it.yaml -- ./orders",
    ),
)
@takes(ExploreOptions)
def explore_command(options: ExploreOptions) -> int:
    """Cut a program's connections at each exchange, one per run; compare its history with the log."""
    from barnabas.cli.explore.explore import Job, explore

    return explore(Job.of(options))
