"""The options of `barnabas convert`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.moments import Moment, parse_moment
from barnabas.cli.console.options import Filter, TlsKeys
from barnabas.cli.console.parsing import parse_numbers
from barnabas.trouble import Trouble


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """All options of `barnabas convert`."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="CAPTURE... OUT",
            parser=capture_path,
            help="Captures, read as one, and the file to write: .pcapng or .jsonl, also .gz or "
            ".zst; .yaml (a scenario) or .py (a test); - is standard output (JSON Lines).",
        ),
    ]
    to: Annotated[
        Literal["pcapng", "jsonl", "scenario", "pytest"] | None,
        typer.Option(
            "--to",
            metavar="FORM",
            help="Output format, whatever the name of OUT. jsonl: the lines of decode --json. "
            "scenario: rules that repeat what rules did. pytest: a test that repeats the requests and "
            "compares the responses. Only pcapng can be converted again.",
        ),
    ] = None
    since: Annotated[
        Moment | None,
        typer.Option(
            metavar="TIME",
            help="Only requests from this time on: UTC (2026-11-21T14:05:05.5Z, 14:05:05), or "
            "+10s after the capture begins.",
            parser=parse_moment,
        ),
    ] = None
    until: Annotated[
        Moment | None,
        typer.Option(metavar="TIME", help="Only requests before this time.", parser=parse_moment),
    ] = None
    connection: Annotated[
        list[tuple[range, ...]],
        typer.Option(
            metavar="N[,N-N]", help="Only these connections; repeatable.", parser=parse_numbers
        ),
    ] = field(default_factory=list)
    only: Filter = None
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            "--no-payload",
            help="Leave out record keys, values and headers. Secrets are never written.",
        ),
    ] = False
    tls_keys: TlsKeys = None

    def __post_init__(self) -> None:
        """Raise Trouble unless there are a capture and a file to write."""
        if len(self.files) < 2:
            raise Trouble(
                "convert needs at least one capture and, last, the file to write; see --help"
            )

    @property
    def connections(self) -> tuple[range, ...] | None:
        """Return the numbers of the selected connections; None: all."""
        return tuple(part for each in self.connection for part in each) or None

    @property
    def slice(self) -> str:
        """Return the options that select exchanges, as the user typed them."""
        connections = ",".join(
            f"{each.start}-{each[-1]}" if len(each) > 1 else f"{each.start}"
            for each in self.connections or ()
        )
        texts = {
            "--since": self.since and self.since.text,
            "--until": self.until and self.until.text,
            "--connection": connections,
            "--filter": self.only,
        }
        return " ".join(f"{option} {text}" for option, text in texts.items() if text)
