"""`barnabas clients`: its commands; their options are in `options.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.clients.options import DoOptions, Format, Name, Out, RerunOptions, RunOptions
from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines
from barnabas.cli.console.parameters import takes
from barnabas.trouble import FINE, Trouble

clients_app = typer.Typer(
    no_args_is_help=True,
    help="Run client libraries under faults, and compare what each does.",
    epilog=examples(
        "barnabas clients run --client aiokafka@0.12.0 --client aiokafka@0.14.0 --out table",
        "barnabas clients show aiokafka@0.14.0/produce/lossy-network --out table",
        "barnabas clients report --out table",
    ),
)


@clients_app.command(
    "run",
    epilog=examples(
        "barnabas clients run --quick --out table",
        "barnabas clients run --client java@3.9.1 --client java@4.3.1 --scenario lossy-network",
        "barnabas clients run --client confluent-kafka@2.3.0 --workload produce --broker embedded",
        note="Exit code 1: a client did something else than it promises. An interrupted run goes on with the "
        "same --out.",
    ),
)
@takes(RunOptions)
def clients_run(options: RunOptions) -> int:
    """Run workloads of clients under scenarios, and judge each.

    Without options: all scenarios, the newest release that is known of each library, and the workloads
    produce, read-process-write and group.
    """
    from barnabas.cli.clients.running import run

    return run(options)


@clients_app.command(
    "list",
    epilog=examples("barnabas clients list", "barnabas clients list --json | jq -r .client"),
)
def clients_list(as_json: JsonLines = False) -> None:
    """List client libraries, with the release that is run if nobody names one, and workloads."""
    from barnabas.cli.clients.listing import list_clients

    list_clients(as_json)


@clients_app.command(
    "do",
    epilog=examples(
        "barnabas clients do --client sarama@1.61.1 -b localhost:9092 produce group",
        "barnabas clients do --client java@4.3.1 -b localhost:9092 --records 1000 --topic t produce",
        "barnabas explore -b localhost:9092 -- barnabas clients do --client java@4.3.1 transact assign",
        note="What reads a topic reads what a workload before it wrote. Exit code 1: the client raised an "
        "error.",
    ),
)
@takes(DoOptions)
def clients_do(options: DoOptions) -> int:
    """Have a client do workloads once, and write the history of it."""
    from barnabas.cli.clients.doing import do

    return do(options)


@clients_app.command(
    "show",
    epilog=examples(
        "barnabas clients show java@4.3.1/produce/lossy-network --out table",
        "barnabas clients show java@4.3.1/group/slow-broker --json | jq .trials[].findings",
    ),
)
def clients_show(cell: Name, out: Out = Path("clients"), as_json: JsonLines = False) -> None:
    """Show what is known of a cell, and where its evidence is."""
    from barnabas.cli.clients.showing import show

    show(cell, out, as_json)


@clients_app.command(
    "rerun",
    epilog=examples(
        "barnabas clients rerun java@4.3.1/produce/lossy-network --out table",
        "barnabas clients rerun mine/produce/slow-broker --command mine='python mine.py'",
    ),
)
@takes(RerunOptions)
def clients_rerun(options: RerunOptions) -> int:
    """Run a cell again, and what it is compared with; its earlier evidence is replaced."""
    from barnabas.cli.clients.running import run
    from barnabas.cli.clients.showing import find
    from barnabas.experiments.clients.cell import CONTROL
    from barnabas.experiments.clients.folder import scenario_of

    out = options.out
    known = find(options.cell, out)
    mine = [one for one in options.commands if one.partition("=")[0] == known.client]
    if known.command and not mine:
        raise Trouble(f"{known.client} is a program of yours: give --command {known.client}=LINE")
    asked = RunOptions(
        clients=[] if mine else [known.client],
        commands=mine,
        workloads=[known.workload],
        broker=known.broker,
        trials=max(len(known.trials), 1),
        jobs=options.jobs,
        out=out,
        as_json=options.as_json,
    )
    named = ((known.scenario, scenario_of(out, known.name)),)
    return run(asked, again=() if known.scenario == CONTROL else named)


@clients_app.command(
    "report",
    epilog=examples(
        "barnabas clients report --out table > clients.md",
        "barnabas clients report --out table --format html > clients.html",
        "barnabas clients report --out table --format json | jq .verdict.word",
        note="--format public is Markdown without what may be a bug that its project has to hear of first.",
    ),
)
def clients_report(
    form: Annotated[
        Format, typer.Option("--format", help="What it is written in.")
    ] = Format.markdown,
    out: Out = Path("clients"),
) -> int:
    """Write the table: a row a scenario, a column a client, and why a cell is not fine."""
    from barnabas.cli.clients.showing import cells
    from barnabas.cli.console.output import Output
    from barnabas.experiments.clients.page import page
    from barnabas.experiments.clients.table import markdown, public

    found = cells(out)
    if not found:
        raise Trouble(f"{out} has no cell yet: `barnabas clients run --out {out}`")
    output = Output()
    if form is Format.json:
        for cell in found:
            output.raw(cell.model_dump_json())
        return FINE
    match form:
        case Format.markdown:
            text = markdown(found)
        case Format.public:
            text = public(found)
        case Format.html:
            text = page(found, out)
    for line in text.rstrip().splitlines():
        output.line(line)
    return FINE
