"""`barnabas fuzz`: its commands; their options are in `options.py` and `run_options.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonLines, OneDocument
from barnabas.cli.console.parameters import takes
from barnabas.cli.fuzz.options import (
    Database,
    DatabaseFile,
    FindingName,
    Own,
    ReplayOptions,
    StatesOptions,
)
from barnabas.cli.fuzz.run_options import RunOptions
from barnabas.trouble import FINE

fuzz_app = typer.Typer(
    no_args_is_help=True,
    help="Fuzz brokers, clients and decoders with malformed frames.",
)


@fuzz_app.command(
    "run",
    epilog=examples(
        "barnabas fuzz run brokers --target librdkafka --cases 20000",
        "barnabas fuzz run brokers --target apache:3.9.1 --seconds 600 --db nightly.fuzz.db",
        "barnabas fuzz run brokers --target apache:4.3.1 --broker-setting message.max.bytes=1000",
        "barnabas fuzz run brokers --target apache:4.3.1 --cases 20000 --coverage",
        "barnabas fuzz run brokers --listener sasl_plaintext --mechanism SCRAM-SHA-512 --jvm=-Xmx512m",
        "barnabas fuzz run mine.yaml --target address:broker.test:9092 --i-own-this-target",
        "barnabas fuzz run brokers --target librdkafka --json | jq 'select(.event == \"finding\")'",
        "barnabas fuzz run versions --target 'apache:3.9.1 vs apache:4.0.0'",
        "barnabas fuzz run brokers --target apache:3.9.1 --cases 20000 --without 3fa9c12b",
        "barnabas fuzz run versions --target 'apache:4.3.1 vs librdkafka'",
        "barnabas fuzz run clients --target 'client:java@4.3.1 vs client:aiokafka@0.14.0'",
        "barnabas fuzz run mine.yaml --spark --master local[4]",
        "barnabas fuzz run mine.yaml --spark --master spark://master:7077 --conf spark.cores.max=8",
    ),
)
@takes(RunOptions)
def fuzz_run_command(options: RunOptions) -> int:
    """Run a campaign, or continue it. Exit code 1: it has findings.

    Targets must be on this machine, unless you give --i-own-this-target.
    """
    from barnabas.cli.fuzz.run import fuzz_run

    return fuzz_run(options)


@fuzz_app.command(
    "replay",
    epilog=examples(
        "barnabas fuzz replay 3fa9c12b --db brokers.fuzz.db",
        "barnabas fuzz replay 3fa9c12b --db brokers.fuzz.db --target apache:3.9.1",
        "barnabas fuzz replay --db brokers.fuzz.db --json | jq -r 'select(.fired | not).finding'",
    ),
)
@takes(ReplayOptions)
def fuzz_replay_command(options: ReplayOptions) -> int:
    """Run the cases of findings again, each with the cases before it if it needs them.

    Exit code 1: a finding is reproduced, or something else is wrong.
    """
    from barnabas.cli.fuzz.replay import fuzz_replay

    return fuzz_replay(options)


@fuzz_app.command(
    "show",
    epilog=examples(
        "barnabas fuzz show 3fa9c12b",
        "barnabas fuzz show 3fa9c12b --db brokers.fuzz.db --capture finding.pcapng",
    ),
)
def fuzz_show_command(
    finding: FindingName,
    db: Database = None,
    capture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the traffic as pcapng, for Wireshark."),
    ] = None,
    as_json: OneDocument = False,
) -> int:
    """Print a finding in full: its message, session, frames, response and log."""
    from barnabas.cli.fuzz.show import fuzz_show

    return fuzz_show(finding, db, capture=capture, as_json=as_json)


@fuzz_app.command(
    "script",
    epilog=examples(
        "barnabas fuzz script 3fa9c12b > finding.py && python3 finding.py 127.0.0.1:9092",
        "barnabas fuzz script 3fa9c12b --db clients.fuzz.db > finding.py && python3 finding.py 9092",
    ),
)
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
    owned: Own = False,
) -> int:
    """Print a Python script that reproduces a finding without barnabas.

    The script sends the case to a broker. For a client's finding, it is the broker that answers with
    the case.
    """
    from barnabas.cli.fuzz.script import fuzz_script

    return fuzz_script(finding, db, target=target, owned=owned)


@fuzz_app.command(
    "bisect",
    epilog=examples(
        "barnabas fuzz bisect 3fa9c12b --db brokers.fuzz.db",
        "barnabas fuzz bisect 3fa9c12b 3.6.0 3.6.1 3.7.0 3.8.0",
    ),
)
def fuzz_bisect_command(
    finding: FindingName,
    releases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RELEASE]...",
            help="Releases of the finding's target.",
            show_default="for Apache Kafka, the tested releases",
        ),
    ] = None,
    db: Database = None,
    as_json: OneDocument = False,
) -> int:
    """Find the oldest and the newest release that show a finding. Exit code 1: there are some."""
    from barnabas.cli.fuzz.bisect import fuzz_bisect

    return fuzz_bisect(finding, releases or (), db, as_json=as_json)


@fuzz_app.command(
    "states",
    epilog=examples(
        "barnabas fuzz states partition-log --target apache:4.3.1 --table --pictures machines",
        "barnabas fuzz states --target apache:4.3.1",
        "barnabas fuzz states classic-group fetch-session --target address:127.0.0.1:9092",
        "barnabas fuzz states transaction --target 'apache:3.9.1 vs apache:4.3.1'",
        "barnabas fuzz states classic-group --target librdkafka --json | jq .findings",
        "barnabas fuzz states --target 'client:java@4.3.1 vs client:confluent-kafka@2.11.1'",
    ),
)
@takes(StatesOptions)
def fuzz_states_command(options: StatesOptions) -> int:
    """Learn a broker's state machines with valid requests. Exit code 1: a machine deviates.

    barnabas sends each request in each state and compares the responses with the protocol's table, or with
    another broker. For a client, it sends each response in each state and judges the client's next request.
    """
    from barnabas.cli.fuzz.states import fuzz_states

    return fuzz_states(options)


@fuzz_app.command(
    "report",
    epilog=examples(
        "barnabas fuzz report --db brokers.fuzz.db > findings.md",
        "barnabas fuzz report --db brokers.fuzz.db --html findings.html",
        "barnabas fuzz report --db brokers.fuzz.db --json | jq -r '.causes[].title'",
    ),
)
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
) -> int:
    """Report campaigns as Markdown, or as one HTML page. Exit code 1: there are findings."""
    from barnabas.cli.fuzz.report import fuzz_report

    return fuzz_report(db or file, html, as_json=as_json)


@fuzz_app.command(
    "aside",
    epilog=examples(
        "barnabas fuzz aside --db brokers.fuzz.db",
        "barnabas fuzz aside --db brokers.fuzz.db --json | jq -r '.frames[]'",
    ),
)
def fuzz_aside_command(
    file: DatabaseFile = None,
    db: Database = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="One line of JSON per kind, with the frames of its first case."
        ),
    ] = False,
) -> int:
    """List the cases that were set aside, e.g. because similar ones crashed the target repeatedly."""
    from barnabas.cli.fuzz.aside import fuzz_aside

    return fuzz_aside(db or file, as_json=as_json)


@fuzz_app.command(
    "list", epilog=examples("barnabas fuzz list", "barnabas fuzz list --json | jq -r .name")
)
def fuzz_list_command(
    as_json: JsonLines = False,
) -> int:
    """List ready campaigns, and the targets, mutators, oracles, sessions and corpora for others."""
    from barnabas.cli.fuzz.listing import fuzz_list

    fuzz_list(as_json=as_json)
    return FINE


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
