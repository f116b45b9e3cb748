"""Options that several commands of `barnabas fuzz` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    typer.Argument(metavar="[DB]", help="The same as --db."),
]
FindingName = Annotated[
    str, typer.Argument(metavar="FINDING", help="Name of the finding, or the start of it.")
]
