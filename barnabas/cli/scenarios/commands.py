"""`barnabas scenario`: the ready ones, and help for those that you write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import OwnFaults
from barnabas.cli.scenarios.reading import read_scenario, scenario_file
from barnabas.trouble import FINDINGS, FINE

scenario_app = typer.Typer(
    no_args_is_help=True, help="Ready scenarios; check your own; their language."
)


@scenario_app.command(
    "check",
    epilog=examples("barnabas scenario check mine.yaml", "barnabas scenario check *.yaml --strict"),
)
def scenario_check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scenario files, or names.")
    ],
    faults: OwnFaults = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a rule or a fault does nothing.")
    ] = False,
) -> None:
    """Check scenario files: every error with its line."""
    from barnabas.cli.plugins.faults import own_faults
    from barnabas.plural import plural
    from barnabas.proxy.scenario.lint.notes import remarks, warnings

    known = own_faults(faults)
    code = FINE
    for file in files:
        found = read_scenario(file, known)
        for line in remarks(found):
            typer.echo(f"{file}: {line}")
        idle = len(warnings(found))
        verdict = f"loads, with {plural(idle, 'warning')}" if idle else "fine"
        typer.echo(f"{file}: {verdict}, {plural(len(found.rules), 'rule')}")
        code = max(code, FINDINGS if idle and strict else FINE)
    raise typer.Exit(code)


@scenario_app.command(
    "list",
    epilog=examples("barnabas scenario list", "barnabas scenario list --json | jq -r .name"),
)
def scenario_list(
    as_json: Annotated[
        bool, typer.Option("--json", help="A line of JSON for each, with all that it says.")
    ] = False,
) -> None:
    """List the ready scenarios: --scenario takes them by name."""
    from barnabas.cli.scenarios.listing import listing

    listing(as_json=as_json)


@scenario_app.command(
    "show",
    epilog=examples(
        "barnabas scenario show commit-after-join",
        "barnabas scenario show commit-after-join > mine.yaml",
    ),
)
def scenario_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See `barnabas scenario list`.")],
) -> None:
    """Print a ready scenario, to read or to change."""
    path = scenario_file(Path(name))
    typer.echo(path.read_text(), nl=False)


@scenario_app.command(
    "schema",
    epilog=examples(
        "barnabas scenario schema > scenario.schema.json",
        "barnabas scenario schema | jq '.\"$defs\" | keys'",
    ),
)
def scenario_schema_command() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from barnabas.cli.console.json_text import json_text
    from barnabas.proxy.scenario.file import scenario_schema

    typer.echo(json_text(scenario_schema(), indent=2))
