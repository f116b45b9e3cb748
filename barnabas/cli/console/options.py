"""Options that mean the same to more than one command, so that they read the same everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
"""Where a cluster is reached."""

BrokerTls = Annotated[
    bool,
    typer.Option("--broker-tls", help="TLS to the brokers, checked by the system's CAs."),
]

BrokerCa = Annotated[
    Path | None,
    typer.Option(
        "--broker-ca",
        metavar="FILE",
        help="TLS to the brokers, checked by this CA.",
        rich_help_panel="TLS to the brokers",
    ),
]

Filter = Annotated[
    str | None,
    typer.Option("--filter", metavar="EXPR", help="Only exchanges for which it holds (JMESPath)."),
]
"""A condition on what is read from a capture."""

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
"""Whether lines are left out that say nothing: `barnabas.cli.console.folding`."""

Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="FIELD",
        help="Do not compare this field: a name, or a.b; globs. May be repeated.",
    ),
]
"""Fields that are not compared."""

TlsKeys = Annotated[
    Path | None,
    typer.Option("--tls-keys", metavar="FILE", help="The key log of captured TLS (SSLKEYLOGFILE)."),
]
"""A key log, for all commands that read captures: `barnabas.cli.captures.tls_keys` reads it."""

OwnFaults = Annotated[
    str | None,
    typer.Option(
        "--faults",
        metavar="MODULE:TUPLE",
        help="Your own faults, beside the built-in ones.",
        rich_help_panel="Plugins",
    ),
]
"""What a scenario may name, for all commands that read one."""

JsonLines = Annotated[bool, typer.Option("--json", help="JSON Lines.")]

JsonBodies = Annotated[bool, typer.Option("--json", help="JSON Lines, with the bodies.")]

OneDocument = Annotated[bool, typer.Option("--json", help="One JSON document.")]


class Bodies(StrEnum):
    """How bytes fields are written in JSON that are larger than `barnabas.specs.jsonform.MOST`."""

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
"""For all commands that print rows of exchanges."""


def blob_of(bodies: Bodies | None, *, as_json: bool) -> Blob:
    """How bytes are written. Raises Trouble where nothing is written in JSON."""
    from barnabas.specs.jsonform import BLOBS

    if bodies is not None and not as_json:
        raise Trouble("--bodies changes only rows of exchanges in JSON")
    return BLOBS[bodies or Bodies.elided]


Schemas = Annotated[
    str | None,
    typer.Option(
        "--schemas",
        metavar="URL|FOLDER",
        help="Decode record keys and values by the schemas of this registry, or of files 17.avsc, "
        "18.proto ... of their ids.",
        rich_help_panel="Values",
    ),
]
"""Where schemas are: `barnabas.cli.schemas.source` reads it."""

SchemaIdBytes = Annotated[
    int,
    typer.Option(
        "--schema-id-bytes",
        metavar="4|8",
        help="Bytes of a schema's id in front of a value: 4 as Confluent's serializers write it, 8 as "
        "Apicurio's once did.",
        rich_help_panel="Values",
    ),
]


def values_of(schemas: str | None, id_bytes: int, *, wait: bool) -> Values:
    """How keys and values are read. wait: whether that may wait for a registry. Raises Trouble."""
    from barnabas.cli.schemas.source import values_by

    if id_bytes not in (4, 8):
        raise Trouble("--schema-id-bytes: give 4 or 8")
    return values_by(schemas, id_bytes, wait=wait)


def shown_values(shown: bool, schemas: str | None, id_bytes: int, *, wait: bool) -> Values | None:
    """The same where somebody asked to see them. Raises Trouble."""
    if shown or schemas is not None:
        return values_of(schemas, id_bytes, wait=wait)
    return None


ShowValues = Annotated[
    bool,
    typer.Option(
        "--values",
        help="Show record keys and values decoded, in JSON under `records`; --schemas does so, too.",
        rich_help_panel="Values",
    ),
]


JsonArray = Annotated[bool, typer.Option("--json", help="One JSON array.")]


Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="NAME=VALUE", help="A setting of Spark's. May be repeated."),
]


Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where Spark runs: local[N], spark://HOST:PORT ...; default: this machine, all cores.",
    ),
]
"""Of commands that may run on Spark: `chosen_master` says what it comes to."""


def chosen_master(spark: bool, master: str | None, conf: list[str] | None) -> str | None:
    """The master's URL if Spark is asked for ("" is this machine), else None. Raises Trouble."""
    if not spark:
        if master is not None or conf:
            name = "--conf" if conf else "--master"
            raise Trouble(f"{name} applies to Spark: give --spark, too")
        return None
    if master is not None:
        from barnabas.pipeline.spark.masters import parse_master

        try:
            parse_master(master)
        except ValueError as problem:
            raise Trouble(f"--master: {problem}") from None
    return master or ""


def spark_settings(conf: list[str] | None) -> dict[str, str]:
    """What `--conf` says. Raises Trouble."""
    settings = {}
    for one in conf or ():
        name, equals, value = one.partition("=")
        if not (equals and name.startswith("spark.")):
            raise Trouble(f"--conf {one}: expected NAME=VALUE, e.g. spark.executor.memory=4g")
        settings[name] = value
    return settings
