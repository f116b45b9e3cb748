"""`barnabas convert`: its options, and the conversion that they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.options import Filter, TlsKeys
from barnabas.trouble import Trouble

CONVERT_EXAMPLES: Final = (
    "Examples:\n\n  barnabas convert production.pcap.gz run.pcapng   # without its secrets\n\n"
    "  barnabas convert run.pcapng slow.pcapng --filter 'latency_ms > 100' --redact\n\n"
    "  barnabas convert run.pcapng part.pcapng --since +10s --until +20s --connection 1,4-6\n\n"
    "  barnabas convert run.pcapng - --filter \"error != ''\" | jq .response\n\n"
    "  barnabas convert run.pcapng again.yaml --filter rules   # what rules did, to be done again\n\n"
    "  barnabas convert run.pcapng test_seen.py --filter \"api == 'Produce'\" && pytest test_seen.py"
)
"""What stands below its help."""


def convert_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="CAPTURE... OUT",
            parser=capture_path,
            help="Captures, read as one, and the file to write: .pcapng or .jsonl, also .gz or "
            ".zst; .yaml (a scenario) or .py (a test); - is standard output (JSON Lines).",
        ),
    ],
    to: Annotated[
        Literal["pcapng", "jsonl", "scenario", "pytest"] | None,
        typer.Option(
            "--to",
            metavar="FORM",
            help="pcapng, jsonl, scenario or pytest, whatever the name of OUT. JSON Lines are those of "
            "decode --json; a scenario does again what rules did; a test for pytest asks the same, and "
            "asserts what was answered. None of these can be converted back.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Only requests from this time on: UTC (2026-11-21T14:05:05.5Z, 14:05:05), or "
            "+10s after the capture begins.",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only requests before this time.")
    ] = None,
    connection: Annotated[
        list[str] | None,
        typer.Option(metavar="N[,N-N]", help="Only these connections; repeatable."),
    ] = None,
    only: Filter = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            "--no-payload",
            help="Leave out record keys, values and headers. Secrets are never written.",
        ),
    ] = False,
    tls_keys: TlsKeys = None,
) -> None:
    """Convert captures to pcapng, JSON Lines, a scenario or a test: all or a slice, never with secrets."""
    from barnabas.captures.writing.masking import Masking
    from barnabas.cli.captures.convert import Wanted, convert
    from barnabas.cli.captures.moments import parse_moment
    from barnabas.cli.console.parsing import parse_numbers

    if len(files) < 2:
        raise Trouble("convert needs at least one capture and, last, the file to write; see --help")
    wanted = Wanted(
        parse_numbers(connection, "--connection") if connection else None,
        None if since is None else parse_moment(since, "--since"),
        None if until is None else parse_moment(until, "--until"),
        only,
        Masking.of_payload() if redact else Masking(),
        " ".join(
            f"{name} {value}"
            for name, value in (
                ("--since", since),
                ("--until", until),
                ("--connection", connection and ",".join(connection)),
                ("--filter", only),
            )
            if value
        ),
    )
    raise typer.Exit(convert(files[:-1], files[-1], wanted, to=to, keys=read_keys(tls_keys)))
