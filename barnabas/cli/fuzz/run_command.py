"""`barnabas fuzz run`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import (
    Conf,
    JsonLines,
    Master,
    chosen_master,
    spark_settings,
)
from barnabas.cli.fuzz.options import Own
from barnabas.trouble import Trouble

RUN_EXAMPLES: Final = examples(
    "barnabas fuzz run brokers --target embedded --cases 20000",
    "barnabas fuzz run brokers --target apache:3.9.1 --seconds 600 --db nightly.fuzz.db",
    "barnabas fuzz run brokers --target apache:4.3.1 --broker-setting message.max.bytes=1000",
    "barnabas fuzz run brokers --target apache:4.3.1 --cases 20000 --coverage",
    "barnabas fuzz run brokers --listener sasl_plaintext --mechanism SCRAM-SHA-512 --jvm=-Xmx512m",
    "barnabas fuzz run mine.yaml --target address:broker.test:9092 --i-own-this-target",
    "barnabas fuzz run brokers --target embedded --json | jq 'select(.event == \"finding\")'",
    "barnabas fuzz run versions --target 'apache:3.9.1 vs apache:4.0.0'",
    "barnabas fuzz run brokers --target apache:3.9.1 --cases 20000 --without 3fa9c12b",
    "barnabas fuzz run versions --target 'apache:4.3.1 vs embedded'",
    "barnabas fuzz run clients --target 'client:java@4.3.1 vs client:aiokafka@0.14.0'",
    "barnabas fuzz run mine.yaml --spark --master local[4]",
    "barnabas fuzz run mine.yaml --spark --master spark://master:7077 --conf spark.cores.max=8",
)

APACHE: Final = "Targets of the kind apache"


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
            help="Be over after this time, but for the case under way. If something was found, the last "
            "fifth of it is for shrinking (30 s at most).",
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
    coverage: Annotated[
        bool,
        typer.Option(
            "--coverage",
            help="Count the lines that the target reaches (apache, and most clients), for the report: valid "
            "messages are sent first, and it takes minutes more.",
        ),
    ] = False,
    feedback: Annotated[
        bool,
        typer.Option(
            "--coverage-feedback",
            help="And make more cases of messages that reached new lines, and of fields whose change nothing "
            "showed yet, behind every 200 cases at least. A broker takes nearly twice the time for the first "
            "thousand cases.",
        ),
    ] = False,
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
    if where is not None and (coverage or feedback):
        raise Trouble("--coverage counts lines of a target here, and not of those on Spark")
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
        coverage="feedback" if feedback else "report" if coverage else None,
    )
    raise typer.Exit(fuzz_run(wanted))
