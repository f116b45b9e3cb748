"""Options of the commands about captures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.console.options import (
    DialectName,
    Filter,
    Ignore,
    JsonBodies,
    JsonBytes,
    JsonLines,
    OneDocument,
    OwnFaults,
    SchemaOptions,
    TlsKeys,
    check_bodies,
)
from barnabas.trouble import Trouble

OneCapture = Annotated[Path, typer.Argument(metavar="FILE", parser=capture_path, help="A capture.")]


Captures = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...", parser=capture_path, help="A capture, or several of the same traffic."
    ),
]


GROUP = "group"
"""A key of rows in addition to `barnabas.captures.summary.summary.KINDS`: a row is a generation."""

TRANSACTION = "transaction"
"""Another key of rows, only on request: a row is a transaction."""


def parse_kind(text: str) -> str:
    """Return the key by which a summary counts. Raises Trouble for an unknown one."""
    from barnabas.captures.summary.summary import KINDS
    from barnabas.nearest import choices

    kinds = (*KINDS, GROUP, TRANSACTION)
    if text not in kinds:
        raise Trouble(f"--by {text}: unknown{choices(text, kinds)}")
    return text


@dataclass(frozen=True, kw_only=True)
class SummaryOptions:
    """All options of `barnabas summary`."""

    files: Captures
    by: Annotated[
        list[str],
        typer.Option(
            metavar="WHAT",
            help="Group by api, client, connection, broker, topic, group (a row per generation) "
            "or transaction (a row each); default: all but transaction.",
            parser=parse_kind,
        ),
    ] = field(default_factory=list)
    only: Filter = None
    most: Annotated[int, typer.Option(metavar="N", min=1, help="Rows per table.")] = 20
    tls_keys: TlsKeys = None
    dialect: DialectName = None
    as_json: OneDocument = False


@dataclass(frozen=True, kw_only=True)
class OpenOptions:
    """All options of `barnabas open`."""

    files: Captures
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Port; 0 picks one.")
    ] = 0
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address without opening a browser.")
    ] = False
    keep: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=10_000_000,
            help="Keep at most this many exchanges on the page, the latest.",
        ),
    ] = 200_000
    tls_keys: TlsKeys = None
    schemas: SchemaOptions = field(default_factory=SchemaOptions)


@dataclass(frozen=True, kw_only=True)
class GrepOptions:
    """All options of `barnabas grep`."""

    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="A regular expression.")]
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", parser=capture_path, help="Captures.")
    ]
    any_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Ignore case.")] = False
    fixed: Annotated[
        bool,
        typer.Option("--fixed-strings", "-F", help="PATTERN is plain text, not an expression."),
    ] = False
    tls_keys: TlsKeys = None
    as_json: JsonBodies = False
    bodies: JsonBytes = None
    schemas: SchemaOptions = field(default_factory=SchemaOptions)

    def __post_init__(self) -> None:
        """Raise Trouble for a form of bodies that are not printed."""
        check_bodies(self.bodies, as_json=self.as_json)


@dataclass(frozen=True, kw_only=True)
class DiffOptions:
    """All options of `barnabas diff`."""

    left: Annotated[Path, typer.Argument(metavar="A", parser=capture_path, help="A capture.")]
    right: Annotated[
        Path, typer.Argument(metavar="B", parser=capture_path, help="Another capture.")
    ]
    ignore: Ignore = field(default_factory=list)
    everything: Annotated[
        bool,
        typer.Option(
            "--everything", help="Also compare times, ids and addresses, which differ in each run."
        ),
    ] = False
    only: Filter = None
    tls_keys: TlsKeys = None
    as_json: JsonLines = False


@dataclass(frozen=True, kw_only=True)
class RehearseOptions:
    """All options of `barnabas rehearse`."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[SCENARIO] CAPTURE",
            parser=capture_path,
            help="Without SCENARIO: the scenario recorded in the capture.",
        ),
    ]
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the decisions recorded in the capture.")
    ] = False
    tls_keys: TlsKeys = None
    as_json: JsonLines = False
    faults: OwnFaults = None
    schemas: SchemaOptions = field(default_factory=SchemaOptions)

    def __post_init__(self) -> None:
        """Raise Trouble for more than two files."""
        if len(self.files) > 2:
            raise Trouble("rehearse takes a scenario and a capture, or a capture alone; see --help")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """All options of `barnabas check`."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            parser=capture_path,
            help="A capture; several are read as one.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    form: Annotated[
        Literal["text", "json", "sarif", "junit"],
        typer.Option("--format", help="Format of the findings."),
    ] = "text"
    only: Annotated[
        list[str],
        typer.Option("--only", metavar="CHECK", help="Run only this check; repeatable."),
    ] = field(default_factory=list)
    skip: Annotated[
        list[str],
        typer.Option("--skip", metavar="CHECK", help="Skip this check; repeatable."),
    ] = field(default_factory=list)
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="CHECK.SETTING=VALUE", help="Set a threshold; repeatable."),
    ] = field(default_factory=list)
    checks: Annotated[
        str | None,
        typer.Option("--checks", metavar="MODULE:TUPLE", help="Add checks of your own."),
    ] = None
    tls_keys: TlsKeys = None
    dialect: DialectName = None
    list_them: Annotated[
        bool,
        typer.Option(
            "--list",
            help="List all checks with their versions, dialects and thresholds, and exit.",
        ),
    ] = False
