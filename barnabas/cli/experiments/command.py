"""`barnabas experiment`: measurements of real brokers and clients, and their reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines

experiment_app = typer.Typer(
    no_args_is_help=True, help="Measure how real brokers and clients behave, and write a report."
)


@experiment_app.command(
    "list",
    epilog=examples("barnabas experiment list", "barnabas experiment list --json | jq -r .name"),
)
def experiment_list(as_json: JsonLines = False) -> None:
    """List the experiments: the question and the Kafka versions of each."""
    from barnabas.cli.experiments.run import listing

    listing(as_json=as_json)


@experiment_app.command(
    "run",
    epilog=examples(
        "barnabas experiment run NAME --short",
        "barnabas experiment run NAME --out results",
    ),
)
def experiment_run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See `barnabas experiment list`.")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for NAME.md, NAME.json and plots."),
    ] = Path("results"),
    short: Annotated[
        bool, typer.Option("--short", help="Few runs: a smoke test, no basis for conclusions.")
    ] = False,
) -> int:
    """Run an experiment on brokers that it starts, and write the result as Markdown and JSON.

    Exit code 1: the result is written, but the machine was busy and the timings are unreliable.
    """
    from barnabas.cli.experiments.run import run

    return run(name, out, short=short)


@experiment_app.command(
    "write",
    epilog=examples(
        "barnabas experiment write results/NAME.json",
        "barnabas experiment write results/NAME.json > NAME.md",
    ),
)
def experiment_write(
    file: Annotated[Path, typer.Argument(metavar="NAME.json", help="The result of a run.")],
) -> None:
    """Print the Markdown of an earlier result, without running anything."""
    from barnabas.cli.experiments.run import written

    typer.echo(written(file), nl=False)
