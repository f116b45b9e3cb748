"""The options of `barnabas explore`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from barnabas.cli.console.options import JsonLines, OwnFaults, Servers
from barnabas.cli.console.parsing import parse_seconds

if TYPE_CHECKING:
    from barnabas.experiments.explore.checks.outputs import Expectation


def parse_apis(text: str) -> frozenset[str]:
    """Parse names or keys of APIs with commas between them.

    >>> sorted(parse_apis("Produce, 26"))
    ['EndTxn', 'Produce']
    """
    from barnabas.proxy.matching.notation import api_key
    from barnabas.specs import NAMES

    names = (part.strip() for part in text.split(","))
    return frozenset(NAMES[api_key(int(name) if name.isdecimal() else name)] for name in names)


def parse_place_of_ids(text: str) -> str:
    """Check the place of ids in records, and return it."""
    from barnabas.experiments.explore.read_log import id_of

    id_of(text)
    return text


def parse_expectation(text: str) -> Expectation:
    """Parse an expectation of records in a topic."""
    from barnabas.experiments.explore.checks.outputs import Expectation

    return Expectation.parse(text)


@dataclass(frozen=True, kw_only=True)
class ExploreOptions:
    """All options of `barnabas explore`."""

    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- CMD [ARGS]",
            help="The program; {bootstrap}, {history} and {run} are replaced, and also set as "
            "BARNABAS_BOOTSTRAP, BARNABAS_HISTORY and BARNABAS_RUN.",
        ),
    ]
    bootstrap_server: Servers
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder for recording, scenarios and results; an interrupted exploration continues "
            "there.",
        ),
    ] = Path("exploration")
    api: Annotated[
        list[frozenset[str]],
        typer.Option(
            metavar="NAME[,...]",
            help="Only exchanges of these APIs; repeatable.",
            parser=parse_apis,
        ),
    ] = field(default_factory=list)
    per_api: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="At most N exchanges per client and API, evenly spread."
        ),
    ] = 10
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="At most N runs in total.")] = 100
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="TIME",
            help="Longer runs are killed.",
            show_default="5 times the recording, at least 30s",
            parser=parse_seconds,
        ),
    ] = None
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            "-s",
            metavar="TEMPLATE",
            help="Use the faults (`do`) of these rules instead of cuts and errors, at each "
            "exchange, or at those of `match.api`.",
        ),
    ] = None
    faults: OwnFaults = None
    where: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="WHERE",
            help="Where records carry their ids: value, key or header:NAME.",
            parser=parse_place_of_ids,
        ),
    ] = "value"
    expect: Annotated[
        list[Any],
        typer.Option(
            metavar="SOURCE:OUTPUT[:at-least-once]",
            help="Each record that the program reads from topic SOURCE has one record with its id in "
            "topic OUTPUT; {run} is replaced; repeatable.",
            parser=parse_expectation,
        ),
    ] = field(default_factory=list)
    only: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="Run once under this scenario file; repeatable."),
    ] = field(default_factory=list)
    as_json: JsonLines = False

    @property
    def apis(self) -> frozenset[str] | None:
        """Return the APIs whose exchanges are chosen; None: all."""
        return frozenset().union(*self.api) or None
