"""`barnabas scenario`: ready scenarios, and help for writing your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines, OwnFaults
from barnabas.cli.scenarios.scenario_files import read_scenario, scenario_text
from barnabas.proxy.scenario.symptoms import SYMPTOMS
from barnabas.trouble import FINDINGS, FINE, Trouble

scenario_app = typer.Typer(no_args_is_help=True, help="List, show and check scenarios.")


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
        bool, typer.Option("--strict", help="Exit with code 1 if a rule or a fault does nothing.")
    ] = False,
) -> int:
    """Check scenario files and print every error with its line. Exit code 2: there are errors."""
    from barnabas.cli.plugins.faults import own_faults
    from barnabas.plural import plural
    from barnabas.proxy.scenario.lint.notes import advice, remarks, warnings

    known_faults = own_faults(faults)
    code = FINE
    wrong = []
    for file in files:
        try:
            scenario = read_scenario(file, known_faults)
        except Trouble as problem:
            wrong.append(str(problem))
            continue
        for line in (*remarks(scenario), *advice(scenario)):
            typer.echo(f"{file}: {line}")
        idle = len(warnings(scenario))
        verdict = f"loads, with {plural(idle, 'warning')}" if idle else "fine"
        typer.echo(f"{file}: {verdict}, {plural(len(scenario.rules), 'rule')}")
        code = max(code, FINDINGS if idle and strict else FINE)
    if wrong:
        raise Trouble("\n".join(wrong))
    return code


@scenario_app.command(
    "list",
    epilog=examples(
        "barnabas scenario list",
        "barnabas scenario list --symptom duplicates",
        "barnabas scenario list --json | jq -r .name",
    ),
)
def scenario_list(
    symptom: Annotated[
        str | None,
        typer.Option(
            "--symptom",
            metavar="NAME",
            help="Only scenarios with this symptom in a client that does not handle the fault: "
            f"{', '.join(SYMPTOMS)}.",
        ),
    ] = None,
    as_json: JsonLines = False,
) -> None:
    """List the ready scenarios, whose names --scenario accepts."""
    from barnabas.cli.scenarios.listing import listing

    listing(symptom, as_json=as_json)


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
    typer.echo(scenario_text(Path(name)), nl=False)


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
    from barnabas.proxy.scenario.json_schema import scenario_schema

    typer.echo(json_text(scenario_schema(), indent=2))
