"""`barnabas explore`: its options, and the job that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from barnabas.cli.console.options import JsonLines, OwnFaults, Servers
from barnabas.trouble import Trouble

EXPLORE_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas explore -b localhost:9092 -- python orders.py --topic 'orders-{run}'\n\n"
    "  barnabas explore -b localhost:9092 --api Produce,EndTxn --per-api 5 -- ./orders\n\n"
    "  barnabas explore -b localhost:9092 --scenario faults.yaml --json -- ./orders | jq .outcome"
    "\n\n"
    "  barnabas explore -b localhost:9092 "
    "--only exploration/scenarios/017-Produce-after-the-broker-has-it.yaml -- ./orders"
)
"""What stands below its help."""


def explore_command(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- CMD [ARGS]",
            help="The program; {bootstrap}, {history} and {run} are replaced, and also set as "
            "BARNABAS_BOOTSTRAP, BARNABAS_HISTORY and BARNABAS_RUN.",
        ),
    ],
    bootstrap_server: Servers,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder for recording, scenarios and results; an interrupted exploration continues "
            "there.",
        ),
    ] = Path("exploration"),
    api: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[,...]", help="Only exchanges of these APIs; repeatable."),
    ] = None,
    per_api: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="At most N exchanges per client and API, evenly spread."
        ),
    ] = 10,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="At most N runs in total.")] = 100,
    time_limit: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Longer runs are killed.",
            show_default="5 times the recording, at least 30s",
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            "-s",
            metavar="TEMPLATE",
            help="Use the faults (`do`) of these rules instead of the three cuts, at each "
            "exchange.",
        ),
    ] = None,
    faults: OwnFaults = None,
    where: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="WHERE",
            help="Where records carry their ids: value, key or header:NAME.",
        ),
    ] = "value",
    only: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Run once under this scenario file; repeatable."),
    ] = None,
    as_json: JsonLines = False,
) -> None:
    """Cut a program's connections at each exchange, a run each, and compare what it says with the log."""
    from barnabas.addresses import parse_servers
    from barnabas.cli.console.parsing import parse_seconds
    from barnabas.cli.explore.explore import Job, explore
    from barnabas.cli.plugins.faults import own_faults
    from barnabas.experiments.explore.read_log import id_of

    parse_servers(bootstrap_server)
    try:
        id_of(where)
    except ValueError as problem:
        raise Trouble(f"--id: {problem}") from None
    job = Job(
        command=command,
        bootstrap=bootstrap_server,
        out=out,
        apis=_apis(api or ()),
        per_api=per_api,
        limit=limit,
        time_limit=None if time_limit is None else parse_seconds(time_limit, "--time-limit"),
        template=scenario,
        faults=own_faults(faults),
        id_where=where,
        only=tuple(only or ()),
        as_json=as_json,
    )
    raise typer.Exit(explore(job))


def _apis(texts: list[str] | tuple[str, ...]) -> frozenset[str] | None:
    """The names of APIs, by name or key. Raises Trouble."""
    from barnabas.proxy.matching.notation import api_key
    from barnabas.specs import NAMES

    found = set()
    for name in (part.strip() for text in texts for part in text.split(",")):
        try:
            found.add(NAMES[api_key(int(name) if name.isdecimal() else name)])
        except ValueError as problem:
            raise Trouble(f"--api: {problem}") from None
    return frozenset(found) or None
