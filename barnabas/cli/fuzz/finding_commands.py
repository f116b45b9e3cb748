"""The commands of `barnabas fuzz` about one finding, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import OneDocument
from barnabas.cli.fuzz.options import Database, FindingName, Own

REPLAY_EXAMPLES: Final = examples(
    "barnabas fuzz replay 3fa9c12b --db brokers.fuzz.db",
    "barnabas fuzz replay 3fa9c12b --db brokers.fuzz.db --target apache:3.9.1",
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
    """Run a finding's case again, behind others if it takes them.

    Exit code 1: it fires, or something else is wrong; 0: nothing is.
    """
    from barnabas.cli.fuzz.replay import fuzz_replay

    raise typer.Exit(
        fuzz_replay(
            finding, db, target=target, attempts=attempts, first=first, own=own, as_json=as_json
        )
    )


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
