"""The options of `barnabas clients`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.options import JsonLines, SparkOptions
from barnabas.trouble import Trouble

Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the table and its evidence.")
]


Commands = Annotated[
    list[str],
    typer.Option(
        "--command", metavar="NAME=LINE", help="A program of yours as a client; repeatable."
    ),
]


Name = Annotated[
    str, typer.Argument(metavar="CELL", help="CLIENT/WORKLOAD/SCENARIO, as in `report`.")
]


Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Cells at once.")]


class Format(StrEnum):
    """The formats of a report."""

    markdown = "markdown"
    public = "public"
    json = "json"
    html = "html"


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """All options of `barnabas clients run`."""

    clients: Annotated[
        list[str],
        typer.Option(
            "--client",
            metavar="NAME@VERSION",
            help="A client library, by default in the release of `list`; repeatable.",
        ),
    ] = field(default_factory=list)
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME@VERSION",
            help="Run this client, too, and print only the cells in which the two differ.",
        ),
    ] = None
    commands: Commands = field(default_factory=list)
    workloads: Annotated[
        list[str],
        typer.Option(
            "--workload",
            metavar="NAME",
            help="What the client does (see `list`), or all; repeatable.",
        ),
    ] = field(default_factory=list)
    scenarios: Annotated[
        list[Path],
        typer.Option(
            "--scenario", "-s", metavar="NAME", help="A fault, by name or file; repeatable."
        ),
    ] = field(default_factory=list)
    broker: Annotated[
        str,
        typer.Option(
            metavar="BROKER", help="librdkafka, apache:VERSION, or HOST:PORT of your cluster."
        ),
    ] = "apache:4.3.1"
    trials: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Runs of each cell, each with its own seed [3]."),
    ] = None
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Two runs of each cell under a few scenarios, spread over all short workloads; takes "
            "minutes.",
        ),
    ] = False
    spread: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Run each scenario with N of the workloads, so that each has some; else with all.",
        ),
    ] = None
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Send one record at a time in all runs; else only in a cell's first."
        ),
    ] = False
    cuts: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Also cut the connection at N exchanges, one per run."
        ),
    ] = 0
    jobs: Jobs = 8
    spark: SparkOptions = field(default_factory=SparkOptions)
    out: Out = Path("clients")
    as_json: JsonLines = False

    def __post_init__(self) -> None:
        """Raise Trouble for two selections of scenarios, or a comparison of other than two clients."""
        if self.quick and self.scenarios:
            raise Trouble("--quick chooses the scenarios: omit --scenario or --quick")
        if self.spread and self.spark.spark:
            raise Trouble("--spread needs all clients in one run: omit it or --spark")
        if self.against and len(self.clients) + len(self.commands) != 1:
            raise Trouble(
                "--against compares one client with another: give one --client or --command"
            )

    @property
    def runs(self) -> int:
        """Return the number of trials of each cell."""
        return self.trials or (2 if self.quick else 3)


@dataclass(frozen=True, kw_only=True)
class DoOptions:
    """All options of `barnabas clients do`."""

    workloads: Annotated[
        list[str], typer.Argument(metavar="WORKLOAD...", help="Workloads, run in this order.")
    ]
    bootstrap: Annotated[
        str,
        typer.Option(
            "--bootstrap-server",
            "-b",
            envvar="BARNABAS_BOOTSTRAP",
            metavar="HOST:PORT",
            help="The cluster.",
        ),
    ]
    client: Annotated[
        str | None, typer.Option("--client", metavar="NAME@VERSION", help="A client library.")
    ] = None
    command: Annotated[
        str | None, typer.Option("--command", metavar="NAME=LINE", help="A program of yours.")
    ] = None
    topic: Annotated[
        str, typer.Option(metavar="NAME", help="{run} is replaced by the token of a run.")
    ] = "orders-{run}"
    run: Annotated[
        str, typer.Option(envvar="BARNABAS_RUN", metavar="TOKEN", help="Token that replaces {run}.")
    ] = "1"
    records: Annotated[
        int, typer.Option(min=1, metavar="N", help="Records to produce, or in the topic.")
    ] = 30
    history: Annotated[
        Path | None,
        typer.Option(
            envvar="BARNABAS_HISTORY",
            metavar="FILE",
            help="Write the history to this file; default: stdout.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble unless there is exactly one client."""
        if (self.client is None) == (self.command is None):
            raise Trouble("expected one client: --client NAME@VERSION, or --command NAME=LINE")

    @property
    def topic_of_run(self) -> str:
        """Return the name of the topic, with the token of the run."""
        return self.topic.replace("{run}", self.run)


@dataclass(frozen=True, kw_only=True)
class RerunOptions:
    """All options of `barnabas clients rerun`."""

    cell: Name
    commands: Commands = field(default_factory=list)
    jobs: Jobs = 8
    out: Out = Path("clients")
    as_json: JsonLines = False
