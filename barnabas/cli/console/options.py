"""Options of more than one command, with the same name and help everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from barnabas.cli.console.parsing import parse_spark_setting
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.values.value import Values
    from barnabas.specs.jsonform import Blob

Servers = Annotated[
    str,
    typer.Option(
        "--bootstrap-server", "-b", metavar="HOST:PORT[,...]", help="The brokers to start from."
    ),
]
"""The bootstrap servers of a cluster."""

Filter = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="EXPR",
        help="Only exchanges for which this JMESPath expression is true.",
    ),
]
"""A condition on the exchanges of a capture."""

FollowErrors = Annotated[
    bool,
    typer.Option(
        "--follow-errors",
        help="Print only exchanges with an error, without a response, or that a rule changed.",
        rich_help_panel="Log",
    ),
]
"""A short form of `--filter`: see `barnabas.captures.kafka.filters.FAILED`."""

QuietFetches = Annotated[
    bool | None,
    typer.Option(
        "--quiet-fetches/--no-quiet-fetches",
        help="Hide, but count, ApiVersions and Fetches without records "
        "(default: on a terminal, without --filter).",
        show_default=False,
        rich_help_panel="Log",
    ),
]
"""Whether the log hides frequent exchanges without content: see `barnabas.cli.console.folding`."""

Ignore = Annotated[
    list[str],
    typer.Option(
        "--ignore",
        metavar="FIELD",
        help="Do not compare this field: a name or a path a.b, with globs; repeatable.",
    ),
]
"""Fields that a comparison ignores."""

TlsKeys = Annotated[
    Path | None,
    typer.Option("--tls-keys", metavar="FILE", help="The key log of captured TLS (SSLKEYLOGFILE)."),
]
"""The key log of a capture, which `barnabas.cli.captures.tls_keys` reads."""

OwnFaults = Annotated[
    str | None,
    typer.Option(
        "--faults",
        metavar="MODULE:TUPLE",
        help="Your own faults, in addition to the built-in ones.",
        rich_help_panel="Plugins",
    ),
]
"""Faults of the user that a scenario may name."""

DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        "--draft",
        metavar="NAME",
        help="Read the capture as this dialect, see `barnabas spec list --dialects`. Captures of "
        "the proxy name theirs.",
    ),
]

JsonLines = Annotated[bool, typer.Option("--json", help="JSON Lines.")]

JsonBodies = Annotated[bool, typer.Option("--json", help="JSON Lines, with the bodies.")]

JsonArray = Annotated[bool, typer.Option("--json", help="One JSON array.")]

OneDocument = Annotated[bool, typer.Option("--json", help="One JSON document.")]


class Bodies(StrEnum):
    """The forms in which JSON has bytes fields larger than `barnabas.specs.jsonform.MOST`."""

    elided = "elided"
    full = "full"


JsonBytes = Annotated[
    Bodies | None,
    typer.Option(
        "--bodies",
        help="Bytes fields over 4 KiB in JSON: elided (their size and SHA-256), or full "
        "(default: elided).",
        show_default=False,
        rich_help_panel="Log",
    ),
]
"""The form of large bytes fields in rows of exchanges."""


def blob_of(bodies: Bodies | None) -> Blob:
    """Return the function that writes a bytes field in JSON."""
    from barnabas.specs.jsonform import BLOBS

    return BLOBS[bodies or Bodies.elided]


def check_bodies(bodies: Bodies | None, *, as_json: bool) -> None:
    """Raise Trouble if `--bodies` is given, and no rows of exchanges are printed in JSON."""
    if bodies is not None and not as_json:
        raise Trouble("--bodies changes only rows of exchanges in JSON")


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """Options for decoding the keys and values of records."""

    PANEL: ClassVar = "Values"

    schemas: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FOLDER",
            help="Decode record keys and values by the schemas of this registry, or of a folder "
            "with files ID.avsc, ID.proto or ID.json.",
        ),
    ] = None
    schema_id_bytes: Annotated[
        int,
        typer.Option(
            metavar="4|8",
            help="Bytes of the schema id before a value: 4 (Confluent's serializers) or 8 (old "
            "ones of Apicurio).",
        ),
    ] = 4

    def __post_init__(self) -> None:
        """Raise Trouble for a size of schema ids that no serializer uses."""
        if self.schema_id_bytes not in (4, 8):
            raise Trouble("--schema-id-bytes: give 4 or 8")

    def read(self, *, wait: bool = True) -> Values:
        """Return the reader of keys and values. Raises Trouble.

        wait: Whether the reader may wait for a schema registry.
        """
        from barnabas.cli.schemas.source import values_by

        return values_by(self.schemas, self.schema_id_bytes, wait=wait)


@dataclass(frozen=True, kw_only=True)
class ValueOptions(SchemaOptions):
    """Options for decoding the keys and values of records and for showing them."""

    values: Annotated[
        bool,
        typer.Option(
            "--values",
            help="Decode record keys and values, in JSON under `records`; implied by --schemas.",
        ),
    ] = False

    @property
    def shown(self) -> bool:
        """Return whether the output has decoded keys and values."""
        return self.values or self.schemas is not None


SparkSettings = Annotated[
    list[tuple[str, str]],
    typer.Option(
        "--conf",
        metavar="NAME=VALUE",
        help="A Spark setting; repeatable.",
        parser=parse_spark_setting,
    ),
]


@dataclass(frozen=True, kw_only=True)
class SparkOptions:
    """Options of a command that can run on Spark."""

    spark: Annotated[
        bool,
        typer.Option(
            "--spark", help="Run in shards on Spark, each with its own target or brokers."
        ),
    ] = False
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where Spark runs: local[N], spark://HOST:PORT ...; default: this machine, all cores.",
        ),
    ] = None
    conf: SparkSettings = field(default_factory=list)

    def __post_init__(self) -> None:
        """Raise Trouble for settings without Spark, and for an invalid master."""
        if not self.spark and (self.master is not None or self.conf):
            name = "--conf" if self.conf else "--master"
            raise Trouble(f"{name} applies to Spark: give --spark, too")
        if self.master is not None:
            from barnabas.pipeline.spark.masters import parse_master

            try:
                parse_master(self.master)
            except ValueError as problem:
                raise Trouble(f"--master: {problem}") from None
