"""`barnabas clients`: its commands and their options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import Conf, JsonLines, Master, chosen_master, spark_settings
from barnabas.trouble import Trouble

clients_app = typer.Typer(
    no_args_is_help=True,
    help="Run client libraries under faults, and compare what each does.",
    epilog=examples(
        "barnabas clients run --client aiokafka@0.12.0 --client aiokafka@0.14.0 --out table",
        "barnabas clients show aiokafka@0.14.0/produce/lossy-network --out table",
        "barnabas clients report --out table",
    ),
)

Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the table and its evidence.")
]
Commands = Annotated[
    list[str] | None,
    typer.Option(
        "--command", metavar="NAME=LINE", help="A program of yours as a client; repeatable."
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="CELL", help="CLIENT/WORKLOAD/SCENARIO, as `report` has them.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Cells at once.")]


class Format(StrEnum):
    """What a report is written in."""

    markdown = "markdown"
    public = "public"
    json = "json"
    html = "html"


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
def clients_run(
    clients: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            metavar="NAME@VERSION",
            help="A client library, in a release or that of `list`; repeatable.",
        ),
    ] = None,
    commands: Commands = None,
    workloads: Annotated[
        list[str] | None,
        typer.Option(
            "--workload", metavar="NAME", help="What a client does (`list`), or all; repeatable."
        ),
    ] = None,
    scenarios: Annotated[
        list[Path] | None,
        typer.Option(
            "--scenario", "-s", metavar="NAME", help="A fault, by name or file; repeatable."
        ),
    ] = None,
    broker: Annotated[
        str,
        typer.Option(
            metavar="BROKER", help="embedded, apache:VERSION, or HOST:PORT of a cluster of yours."
        ),
    ] = "apache:4.3.1",
    trials: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Runs of each cell, with other seeds [3]."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="One run of each cell, under a few scenarios: minutes.")
    ] = False,
    cuts: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Cut the connection at N exchanges, too, each in turn."
        ),
    ] = 0,
    jobs: Jobs = 8,
    spark: Annotated[
        bool, typer.Option("--spark", help="Run on Spark: each worker has brokers of its own.")
    ] = False,
    master: Master = None,
    conf: Conf = None,
    out: Out = Path("clients"),
    as_json: JsonLines = False,
) -> None:
    """Run workloads of clients under scenarios, and judge each.

    Without options: all scenarios, the newest release that is known of each library, and the workloads
    produce, read-process-write and group.
    """
    from barnabas.cli.clients.running import QUICK, Wanted, run

    if quick and scenarios:
        raise Trouble("--quick chooses the scenarios: leave out --scenario, or --quick")
    chosen = scenarios or [Path(name) for name in QUICK if quick]
    wanted = Wanted(
        clients=tuple(clients or ()),
        commands=tuple(commands or ()),
        workloads=tuple(workloads or ()),
        scenarios=tuple((path.stem, path) for path in chosen),
        broker=broker,
        trials=trials or (1 if quick else 3),
        cuts=cuts,
        spark=chosen_master(spark, master, conf),
        settings=spark_settings(conf),
    )
    raise typer.Exit(run(wanted, out, jobs, as_json))


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
def clients_do(
    workloads: Annotated[list[str], typer.Argument(metavar="WORKLOAD...", help="In this order.")],
    bootstrap: Annotated[
        str,
        typer.Option(
            "--bootstrap-server",
            "-b",
            envvar="BARNABAS_BOOTSTRAP",
            metavar="HOST:PORT",
            help="The cluster.",
        ),
    ],
    client: Annotated[
        str | None, typer.Option("--client", metavar="NAME@VERSION", help="A client library.")
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", metavar="NAME=LINE", help="A program of yours.")
    ] = None,
    topic: Annotated[
        str, typer.Option(metavar="NAME", help="{run} is replaced by the token of a run.")
    ] = "orders-{run}",
    run: Annotated[
        str, typer.Option(envvar="BARNABAS_RUN", metavar="TOKEN", help="Of this run.")
    ] = "1",
    records: Annotated[int, typer.Option(min=1, metavar="N", help="Of the topic.")] = 30,
    history: Annotated[
        Path | None,
        typer.Option(
            envvar="BARNABAS_HISTORY",
            metavar="FILE",
            help="Where the history goes, if not to stdout.",
        ),
    ] = None,
) -> None:
    """Have a client do workloads once, and write the history of it."""
    from barnabas.cli.clients.doing import Wanted, do

    named = topic.replace("{run}", run)
    raise typer.Exit(do(Wanted(client, command, workloads, bootstrap, named, records, history)))


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
def clients_rerun(
    cell: Name,
    commands: Commands = None,
    jobs: Jobs = 8,
    out: Out = Path("clients"),
    as_json: JsonLines = False,
) -> None:
    """Run a cell again, and what it is compared with; its earlier evidence is replaced."""
    from barnabas.cli.clients.running import Wanted, run
    from barnabas.cli.clients.showing import find
    from barnabas.experiments.clients.cell import CONTROL
    from barnabas.experiments.clients.folder import scenario_of

    known = find(cell, out)
    mine = [one for one in commands or () if one.partition("=")[0] == known.client]
    if known.command and not mine:
        raise Trouble(f"{known.client} is a program of yours: give --command {known.client}=LINE")
    named = ((known.scenario, scenario_of(out, known.name)),)
    wanted = Wanted(
        clients=() if mine else (known.client,),
        commands=tuple(mine),
        workloads=(known.workload,),
        scenarios=() if known.scenario == CONTROL else named,
        broker=known.broker,
        trials=max(len(known.trials), 1),
        again=True,
    )
    raise typer.Exit(run(wanted, out, jobs, as_json))


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
) -> None:
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
        return
    match form:
        case Format.markdown:
            text = markdown(found)
        case Format.public:
            text = public(found)
        case Format.html:
            text = page(found, out)
    for line in text.rstrip().splitlines():
        output.line(line)
