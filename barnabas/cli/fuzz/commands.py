"""`barnabas fuzz`: its commands, with the options of those about a target, a database or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines
from barnabas.cli.fuzz.finding_commands import (
    BISECT_EXAMPLES,
    REPLAY_EXAMPLES,
    SCRIPT_EXAMPLES,
    SHOW_EXAMPLES,
    fuzz_bisect_command,
    fuzz_replay_command,
    fuzz_script_command,
    fuzz_show_command,
)
from barnabas.cli.fuzz.options import Database, DatabaseFile, Own
from barnabas.cli.fuzz.run_command import RUN_EXAMPLES, fuzz_run_command
from barnabas.trouble import FINE

REPORT_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas fuzz report --db brokers.fuzz.db > findings.md\n\n"
    "  barnabas fuzz report --db brokers.fuzz.db --html findings.html\n\n"
    "  barnabas fuzz report --db brokers.fuzz.db --json | jq -r '.causes[].title'"
)
ASIDE_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas fuzz aside --db brokers.fuzz.db\n\n"
    "  barnabas fuzz aside --db brokers.fuzz.db --json | jq -r '.frames[]'"
)
STATES_EXAMPLES: Final = examples(
    "barnabas fuzz states --target apache:4.3.1",
    "barnabas fuzz states classic-group fetch-session --target address:127.0.0.1:9092",
    "barnabas fuzz states transaction --target 'apache:3.9.1 vs apache:4.3.1'",
    "barnabas fuzz states classic-group --target embedded --json | jq .findings",
    "barnabas fuzz states --target 'client:java@4.3.1 vs client:confluent-kafka@2.11.1'",
)

fuzz_app = typer.Typer(
    no_args_is_help=True,
    help="Fuzz brokers, clients and decoders with malformed frames.",
)

fuzz_app.command("run", epilog=RUN_EXAMPLES)(fuzz_run_command)
fuzz_app.command("replay", epilog=REPLAY_EXAMPLES)(fuzz_replay_command)
fuzz_app.command("show", epilog=SHOW_EXAMPLES)(fuzz_show_command)
fuzz_app.command("script", epilog=SCRIPT_EXAMPLES)(fuzz_script_command)
fuzz_app.command("bisect", epilog=BISECT_EXAMPLES)(fuzz_bisect_command)


@fuzz_app.command("states", epilog=STATES_EXAMPLES)
def fuzz_states_command(
    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            metavar="BROKER|CLIENT",
            help="A broker or a client, as campaigns name it; 'A vs B' compares two.",
        ),
    ],
    alphabets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALPHABET]...", help="Of `barnabas fuzz list`.", show_default="all"
        ),
    ] = None,
    walks: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Random walks from each state, to find others.",
            show_default="20, of clients 3",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the walks.")] = 1,
    own: Own = False,
    as_json: JsonLines = False,
) -> None:
    """Learn a broker's state machines with valid requests. Exit code 1: it accepts what it should not.

    Each request is sent in each state, and the answers are held against the protocol's table; two brokers are
    held against each other. Of a client it is the other way about: it is given each answer in each state, and
    what it asks next is judged.
    """
    from barnabas.cli.fuzz.states import fuzz_states

    raise typer.Exit(
        fuzz_states(target, alphabets or (), walks=walks, seed=seed, own=own, as_json=as_json)
    )


@fuzz_app.command("report", epilog=REPORT_EXAMPLES)
def fuzz_report_command(
    file: DatabaseFile = None,
    db: Database = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one HTML page instead of Markdown.")
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One line of JSON per campaign: its causes, their findings."),
    ] = False,
) -> None:
    """Report campaigns as Markdown, or as one HTML page. Exit code 1: there are findings."""
    from barnabas.cli.fuzz.report import fuzz_report

    raise typer.Exit(fuzz_report(db or file, html, as_json=as_json))


@fuzz_app.command("aside", epilog=ASIDE_EXAMPLES)
def fuzz_aside_command(
    file: DatabaseFile = None,
    db: Database = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="One line of JSON per kind, with the frames of its first case."
        ),
    ] = False,
) -> None:
    """List the cases that were not sent: others of their kind had ended the target again and again."""
    from barnabas.cli.fuzz.aside import fuzz_aside

    raise typer.Exit(fuzz_aside(db or file, as_json=as_json))


@fuzz_app.command(
    "list", epilog=examples("barnabas fuzz list", "barnabas fuzz list --json | jq -r .name")
)
def fuzz_list_command(
    as_json: JsonLines = False,
) -> None:
    """List ready campaigns, and what a campaign may name: targets, mutators, oracles, sessions, corpora."""
    from barnabas.cli.fuzz.listing import fuzz_list

    fuzz_list(as_json=as_json)
    raise typer.Exit(FINE)


@fuzz_app.command(
    "schema",
    epilog=examples(
        "barnabas fuzz schema > campaign.schema.json",
        "barnabas fuzz schema | jq '.properties | keys'",
    ),
)
def fuzz_schema_command() -> None:
    """Print the JSON Schema of campaign files, for editors."""
    from barnabas.cli.console.json_text import json_text
    from barnabas.fuzz.campaigns.campaign import Campaign

    typer.echo(json_text(Campaign.model_json_schema(), indent=2))
