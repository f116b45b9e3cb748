"""`barnabas conform`: the command; its options are in `options.py`."""

from __future__ import annotations

import typer

from barnabas.cli.conform.options import ConformOptions
from barnabas.cli.console.help import examples
from barnabas.cli.console.parameters import takes

conform_app = typer.Typer()


@conform_app.command(
    "conform",
    epilog=examples(
        "barnabas conform localhost:9092",
        "barnabas conform localhost:9092 --only fetch,produce/acks-zero",
        "barnabas conform localhost:9092 --junit conform.xml --baseline known.yaml",
        "barnabas conform localhost:9092 --html conform.html --capture conform.pcapng",
        "barnabas conform localhost:9092 --only fetch --against apache:4.3.1",
        "barnabas conform --list",
        "barnabas conform show fetch/inside-batch",
    ),
)
@takes(ConformOptions)
def conform_command(options: ConformOptions) -> int:
    """Check whether a broker speaks Kafka; exit code 1 if a check fails."""
    from barnabas.cli.conform.run import conform

    return conform(options)
