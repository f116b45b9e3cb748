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
        "barnabas clients run --client java@4.3.1 --against java@3.9.1 --scenario lossy-network",
        "barnabas clients run --client confluent-kafka@2.3.0 --workload produce --broker librdkafka",
        note="Exit code 1: a cell is unexpected. Repeat an interrupted run with the same --out to "
        "continue it.",
    ),
)
@takes(RunOptions)
def clients_run(options: RunOptions) -> int:
    """Run workloads of client libraries under scenarios, and judge each run.

    Default: all scenarios, the newest known release of each library, and the workloads produce,
    read-process-write and group.
    """
    from barnabas.cli.clients.cell_runs import run

    return run(options)


@clients_app.command(
    "list",
    epilog=examples(
        "barnabas clients list", "barnabas clients list --json | jq -r '.client // empty'"
    ),
)
def clients_list(as_json: JsonLines = False) -> None:
    """List client libraries with their default release, and workloads."""
    from barnabas.cli.clients.listing import list_clients

    list_clients(as_json)


@clients_app.command(
    "do",
    epilog=examples(
        "barnabas clients do --client sarama@1.61.1 -b localhost:9092 produce group",
        "barnabas clients do --client java@4.3.1 -b localhost:9092 --records 1000 --topic t produce",
        "barnabas explore -b localhost:9092 -- barnabas clients do --client java@4.3.1 transact assign",
        note="Workloads that read a topic read what an earlier workload wrote. Exit code 1: the "
        "client raised an error.",
    ),
)
@takes(DoOptions)
def clients_do(options: DoOptions) -> int:
    """Run workloads with a client once, and write its history."""
    from barnabas.cli.clients.workload_run import do

    return do(options)


@clients_app.command(
    "show",
    epilog=examples(
        "barnabas clients show java@4.3.1/produce/lossy-network --out table",
        "barnabas clients show java@4.3.1/group/slow-broker --json | jq '.trials[] | {raised, findings}'",
    ),
)
def clients_show(cell: Name, out: Out = Path("clients"), as_json: JsonLines = False) -> None:
    """Show the details of a cell and the paths of its evidence."""
    from barnabas.cli.clients.cell_output import show

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
    """Run a cell and its run without faults again, replacing the earlier evidence."""
    from barnabas.cli.clients.cell_output import find
    from barnabas.cli.clients.cell_runs import run
    from barnabas.experiments import library
    from barnabas.experiments.clients.cell import CONTROL
    from barnabas.experiments.clients.folder import scenario_of

    out = options.out
    cell = find(options.cell, out)
    mine = [command for command in options.commands if command.partition("=")[0] == cell.client]
    if cell.command and not mine:
        raise Trouble(f"{cell.client} is a program of yours: give --command {cell.client}=LINE")
    requested = RunOptions(
        clients=[] if mine else [cell.client],
        commands=mine,
        workloads=[cell.workload],
        broker=cell.broker,
        trials=max(len(cell.trials), 1),
        plain=all(trial.drawn == cell.trials[0].drawn for trial in cell.trials),
        jobs=options.jobs,
        out=out,
        as_json=options.as_json,
    )
    stored = scenario_of(out, cell.name)
    # a cell that was not run has no scenario of its own
    scenario = stored if stored.exists() else library.FOLDER / f"{cell.scenario}.yaml"
    named = ((cell.scenario, scenario),)
    return run(requested, again=() if cell.scenario == CONTROL else named)


@clients_app.command(
    "report",
    epilog=examples(
        "barnabas clients report --out table > clients.md",
        "barnabas clients report --out table --format html > clients.html",
        "barnabas clients report --out table --format json | jq .verdict.word",
        "barnabas clients report --out table --format public > docs/clients.md",
        note="--format public is a page without details of unexpected cells: report these to "
        "the client's project first.",
    ),
)
def clients_report(
    form: Annotated[
        Format, typer.Option("--format", help="Format of the report.")
    ] = Format.markdown,
    out: Out = Path("clients"),
) -> int:
    """Write the table: a row per scenario, a column per client, and reasons for unexpected cells."""
    from barnabas.cli.clients.cell_output import cells
    from barnabas.cli.console.output import Output
    from barnabas.experiments.clients.page import page
    from barnabas.experiments.clients.publication import publication
    from barnabas.experiments.clients.table import markdown

    table_cells = cells(out)
    if not table_cells:
        raise Trouble(f"{out} has no cell yet: `barnabas clients run --out {out}`")
    output = Output()
    if form is Format.json:
        for cell in table_cells:
            output.raw(cell.model_dump_json())
        return FINE
    match form:
        case Format.markdown:
            text = markdown(table_cells)
        case Format.public:
            text = publication(table_cells)
        case Format.html:
            text = page(table_cells, out)
    for line in text.rstrip().splitlines():
        output.line(line)
    return FINE
