"""Options of `barnabas fuzz`: those that several commands share, and those of replay and states."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.options import JsonLines

Own = Annotated[
    bool,
    typer.Option("--i-own-this-target", help="Allow a target on another machine: you own it."),
]


Database = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="The findings database.",
        show_default="the only *.fuzz.db here",
    ),
]


DatabaseFile = Annotated[
    Path | None,
    typer.Argument(metavar="[DB]", help="The findings database, same as --db."),
]


FindingName = Annotated[
    str, typer.Argument(metavar="FINDING", help="Name of the finding, or its beginning.")
]


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """All options of `barnabas fuzz replay`."""

    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[FINDING]...",
            help="Names of findings, or their beginnings.",
            show_default="all of the latest campaign",
        ),
    ] = field(default_factory=list)
    db: Database = None
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="KIND[:WHICH]",
            help="Target to replay against.",
            show_default="the target of the findings",
        ),
    ] = None
    cause: Annotated[
        bool, typer.Option("--cause", help="Replay all findings of the same root cause, too.")
    ] = False
    attempts: Annotated[int, typer.Option(min=1, metavar="N", help="At most N attempts.")] = 3
    first: Annotated[
        bool, typer.Option("--first", help="Use the original case, not the shrunk one.")
    ] = False
    owned: Own = False
    as_json: JsonLines = False


@dataclass(frozen=True, kw_only=True)
class StatesOptions:
    """All options of `barnabas fuzz states`."""

    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            metavar="BROKER|CLIENT",
            help="A broker or a client, as campaigns name it; 'A vs B' compares two.",
        ),
    ]
    alphabets: Annotated[
        list[str],
        typer.Argument(
            metavar="[ALPHABET]...", help="Alphabets, see `barnabas fuzz list`.", show_default="all"
        ),
    ] = field(default_factory=list)
    walks: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Random walks from each state, to find more states.",
            show_default="20, for clients 3",
        ),
    ] = None
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the walks.")] = 1
    table: Annotated[
        bool, typer.Option("--table", help="Print each state, and each input with its output.")
    ] = False
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for a picture (SVG) of each machine."),
    ] = None
    owned: Own = False
    as_json: JsonLines = False
