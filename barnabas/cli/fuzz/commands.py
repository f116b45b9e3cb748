"""`barnabas fuzz`: its commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import (
    Conf,
    JsonLines,
    Master,
    OneDocument,
    chosen_master,
    spark_settings,
)
from barnabas.trouble import FINE

RUN_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas fuzz run brokers --target embedded --cases 20000\n\n"
    "  barnabas fuzz run brokers --target apache:3.9.1 --seconds 600 --db nightly.fuzz.db\n\n"
    "  barnabas fuzz run brokers --target apache:4.3.1 --broker-setting message.max.bytes=1000\n\n"
    "  barnabas fuzz run brokers --listener sasl_plaintext --mechanism SCRAM-SHA-512 --jvm=-Xmx512m\n\n"
    "  barnabas fuzz run mine.yaml --target address:broker.test:9092 --i-own-this-target\n\n"
    "  barnabas fuzz run brokers --target embedded --json | jq 'select(.event == \"finding\")'\n\n"
    "  barnabas fuzz run versions --target 'apache:3.9.1 vs apache:4.0.0'\n\n"
    "  barnabas fuzz run brokers --target apache:3.9.1 --cases 20000 --without 3fa9c12b\n\n"
    "  barnabas fuzz run versions --target 'apache:4.3.1 vs embedded'\n\n"
    "  barnabas fuzz run mine.yaml --spark --master local[4]\n\n"
    "  barnabas fuzz run mine.yaml --spark --master spark://master:7077 --conf spark.cores.max=8"
)
REPLAY_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas fuzz replay 3fa9c12b --db brokers.fuzz.db\n\n"
    "  barnabas fuzz replay 3fa9c12b --db brokers.fuzz.db --target apache:3.9.1"
)
REPORT_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas fuzz report brokers.fuzz.db > findings.md\n\n"
    "  barnabas fuzz report brokers.fuzz.db --html findings.html\n\n"
    "  barnabas fuzz report brokers.fuzz.db --json | jq -r '.causes[].title'"
)
ASIDE_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas fuzz aside brokers.fuzz.db\n\n"
    "  barnabas fuzz aside brokers.fuzz.db --json | jq -r '.frames[]'"
)
SHOW_EXAMPLES: Final = examples(
    "barnabas fuzz show 3fa9c12b",
    "barnabas fuzz show 3fa9c12b --db brokers.fuzz.db --capture finding.pcapng",
)
BISECT_EXAMPLES: Final = examples(
    "barnabas fuzz bisect 3fa9c12b --db brokers.fuzz.db",
    "barnabas fuzz bisect 3fa9c12b 3.6.0 3.6.1 3.7.0 3.8.0",
)
SCRIPT_EXAMPLES: Final = examples(
    "barnabas fuzz script 3fa9c12b > finding.py && python3 finding.py 127.0.0.1:9092",
    "barnabas fuzz script 3fa9c12b --db clients.fuzz.db > finding.py && python3 finding.py 9092",
)
STATES_EXAMPLES: Final = examples(
    "barnabas fuzz states --target apache:4.3.1",
    "barnabas fuzz states classic-group fetch-session --target address:127.0.0.1:9092",
    "barnabas fuzz states transaction --target 'apache:3.9.1 vs apache:4.3.1'",
    "barnabas fuzz states classic-group --target embedded --json | jq .findings",
)

APACHE: Final = "Targets of the kind apache"

fuzz_app = typer.Typer(
    no_args_is_help=True,
    help="Fuzz brokers, clients and decoders with malformed frames.",
)

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
    typer.Argument(metavar="[DB]", help="The findings database; the only *.fuzz.db here."),
]
FindingName = Annotated[
    str, typer.Argument(metavar="FINDING", help="Name of the finding, or the start of it.")
]


@fuzz_app.command("run", epilog=RUN_EXAMPLES)
def fuzz_run_command(
    campaign: Annotated[
        Path,
        typer.Argument(
            metavar="CAMPAIGN", help="A campaign file, or a name of `barnabas fuzz list`."
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="KIND[:WHICH]",
            help="Target instead of the file's; 'A vs B' compares two.",
        ),
    ] = None,
    listener: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Listener for the cases: plaintext, or sasl_plaintext, on which connections log in first.",
            rich_help_panel=APACHE,
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How they log in: PLAIN (default), SCRAM-SHA-256 or SCRAM-SHA-512.",
            rich_help_panel=APACHE,
        ),
    ] = None,
    broker_setting: Annotated[
        list[str] | None,
        typer.Option(
            "--broker-setting",
            metavar="NAME=VALUE",
            help="A line of server.properties. May be repeated.",
            rich_help_panel=APACHE,
        ),
    ] = None,
    jvm: Annotated[
        list[str] | None,
        typer.Option(
            "--jvm",
            metavar="OPTION",
            help="An option of the broker's JVM, such as --jvm=-Xmx512m. May be repeated.",
            rich_help_panel=APACHE,
        ),
    ] = None,
    cases: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after this many cases in total.")
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Make no more cases after this time; the case under way ends, and shrinking takes "
            "30 s more at most.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed instead of the file's.")
    ] = None,
    db: Annotated[
        Path | None,
        typer.Option(
            "--db",
            metavar="FILE",
            help="Database of findings and progress; the same command continues there.",
            show_default="CAMPAIGN.fuzz.db here",
        ),
    ] = None,
    shrink: Annotated[
        int, typer.Option(min=0, metavar="N", help="Runs to shrink each finding; 0: do not shrink.")
    ] = 100,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FINDING",
            help="Leave out what made this finding of the database fire (API, versions, field, "
            "mutator), to see what it hides. Repeatable. That is another campaign.",
        ),
    ] = None,
    spark: Annotated[
        bool, typer.Option("--spark", help="Run in shards on Spark, each with its own target.")
    ] = False,
    master: Master = None,
    conf: Conf = None,
    own: Own = False,
    as_json: JsonLines = False,
) -> None:
    """Run a campaign, or go on with it. Exit code 1: it has findings.

    Only this machine is a target, unless you say that you own another one.
    """
    from barnabas.cli.fuzz.campaigns import broker_settings, read_campaign
    from barnabas.cli.fuzz.run import Wanted, fuzz_run
    from barnabas.cli.fuzz.without import left_out

    where = chosen_master(spark, master, conf)
    changes: dict[str, Any] = {}
    if target is not None:
        changes["target"] = target
    if seed is not None:
        changes["seed"] = seed
    budget = {name: n for name, n in (("cases", cases), ("seconds", seconds)) if n is not None}
    if budget:
        changes["budget"] = budget
    broker = broker_settings(listener, mechanism, broker_setting or [], jvm or [])
    read = read_campaign(campaign, changes, broker)
    database = db or read.database
    if without:
        changes["without"] = [*read.campaign.without, *left_out(database, without)]
        read = read_campaign(campaign, changes, broker)
    wanted = Wanted(
        read,
        database,
        own=own,
        shrink=shrink,
        as_json=as_json,
        spark=where,
        settings=spark_settings(conf),
    )
    raise typer.Exit(fuzz_run(wanted))


@fuzz_app.command("replay", epilog=REPLAY_EXAMPLES)
def fuzz_replay_command(
    finding: FindingName,
    db: Database = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="KIND[:WHICH]",
            help="Target to replay against.",
            show_default="the target of the finding",
        ),
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, metavar="N", help="At most N attempts.")] = 3,
    first: Annotated[
        bool, typer.Option("--first", help="Use the original case, not the shrunk one.")
    ] = False,
    own: Own = False,
    as_json: OneDocument = False,
) -> None:
    """Run a finding's case again. Exit code 1: it fires, or something else is wrong; 0: nothing is."""
    from barnabas.cli.fuzz.replay import fuzz_replay

    raise typer.Exit(
        fuzz_replay(
            finding, db, target=target, attempts=attempts, first=first, own=own, as_json=as_json
        )
    )


@fuzz_app.command("show", epilog=SHOW_EXAMPLES)
def fuzz_show_command(
    finding: FindingName,
    db: Database = None,
    capture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the traffic as pcapng, for Wireshark."),
    ] = None,
    as_json: OneDocument = False,
) -> None:
    """Print all that is known of a finding: its frames, its session, the log, what it came of."""
    from barnabas.cli.fuzz.show import fuzz_show

    raise typer.Exit(fuzz_show(finding, db, capture=capture, as_json=as_json))


@fuzz_app.command("script", epilog=SCRIPT_EXAMPLES)
def fuzz_script_command(
    finding: FindingName,
    db: Database = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="KIND[:WHICH]",
            help="Target to record the session of the case on.",
            show_default="the target of the finding",
        ),
    ] = None,
    own: Own = False,
) -> None:
    """Print a Python script that shows a finding, and needs no barnabas.

    It sends the case to a broker; for a client's finding it is the broker, which answers with the case.
    """
    from barnabas.cli.fuzz.script import fuzz_script

    raise typer.Exit(fuzz_script(finding, db, target=target, own=own))


@fuzz_app.command("bisect", epilog=BISECT_EXAMPLES)
def fuzz_bisect_command(
    finding: FindingName,
    releases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RELEASE]...",
            help="Releases of the finding's target.",
            show_default="of Apache Kafka, those that are tested",
        ),
    ] = None,
    db: Database = None,
    as_json: OneDocument = False,
) -> None:
    """Find the oldest and the newest release that show a finding. Exit code 1: there are some."""
    from barnabas.cli.fuzz.bisect import fuzz_bisect

    raise typer.Exit(fuzz_bisect(finding, releases or (), db, as_json=as_json))


@fuzz_app.command("states", epilog=STATES_EXAMPLES)
def fuzz_states_command(
    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            metavar="BROKER",
            help="A broker, as campaigns name it; 'A vs B' compares two.",
        ),
    ],
    alphabets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALPHABET]...", help="Of `barnabas fuzz list`.", show_default="all"
        ),
    ] = None,
    walks: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Random walks from each state, to find others."),
    ] = 20,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the walks.")] = 1,
    own: Own = False,
    as_json: JsonLines = False,
) -> None:
    """Learn a broker's state machines with valid requests. Exit code 1: it accepts what it should not.

    Each request is sent in each state, and the answers are held against the protocol's table; two brokers are
    held against each other.
    """
    from barnabas.cli.fuzz.states import fuzz_states

    raise typer.Exit(
        fuzz_states(target, alphabets or (), walks=walks, seed=seed, own=own, as_json=as_json)
    )


@fuzz_app.command("report", epilog=REPORT_EXAMPLES)
def fuzz_report_command(
    db: DatabaseFile = None,
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

    raise typer.Exit(fuzz_report(db, html, as_json=as_json))


@fuzz_app.command("aside", epilog=ASIDE_EXAMPLES)
def fuzz_aside_command(
    db: DatabaseFile = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="One line of JSON per kind, with the frames of its first case."
        ),
    ] = False,
) -> None:
    """List the cases that were not sent: others of their kind had ended the target again and again."""
    from barnabas.cli.fuzz.aside import fuzz_aside

    raise typer.Exit(fuzz_aside(db, as_json=as_json))


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
