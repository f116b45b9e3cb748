"""The options of `barnabas analyze`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from barnabas.addresses import parse_servers
from barnabas.cli.captures.files import capture_path
from barnabas.cli.console.options import Bodies, SparkSettings, TlsKeys
from barnabas.cli.console.parameters import given, written
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.checks import Check
    from barnabas.pipeline.spark.session import Engine
    from barnabas.specs.jsonform import Blob


class TableFormat(StrEnum):
    """The file formats of tables."""

    PARQUET = "parquet"
    DELTA = "delta"


class EngineChoice(StrEnum):
    """The values of --engine."""

    AUTO = "auto"
    SAIL = "sail"
    SPARK = "spark"


def parse_tables(text: str) -> tuple[str, ...]:
    """Parse the names of tables that are written on request. Raises Trouble."""
    from barnabas.pipeline.tables.folders import ON_REQUEST

    tables = tuple(dict.fromkeys(filter(None, text.split(","))))
    for table in tables:
        if table not in ON_REQUEST:
            only = ", ".join(ON_REQUEST)
            raise Trouble(f"--tables {table}: only {only} are written on request")
    return tables


def parse_limit(text: str) -> Any:
    """Parse a threshold of the table quality."""
    from barnabas.pipeline.tables.limits import limit

    return limit(text)


@dataclass(frozen=True, kw_only=True)
class SendOptions:
    """Options for sending the exchanges of a followed folder to a Kafka topic, too."""

    to_kafka: Annotated[
        Sequence[tuple[str, int]] | None,
        typer.Option(
            "--to-kafka",
            metavar="HOST:PORT[,...]",
            help="With --follow: also send exchanges, as JSON, to a topic of these brokers.",
            parser=parse_servers,
        ),
    ] = None
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="NAME", help="Topic for --to-kafka.")
    ] = None
    kafka_properties: Annotated[
        Path | None,
        typer.Option(
            "--kafka-properties",
            metavar="FILE",
            help="Settings of the producer of --to-kafka, such as TLS and SASL: a file of lines "
            "NAME=VALUE.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble for a topic without brokers, or brokers without a topic."""
        if self.to_kafka is None:
            for option in given(self):
                raise Trouble(f"{option} needs --to-kafka HOST:PORT: give it, too")
        elif self.topic is None:
            raise Trouble("--to-kafka needs --topic NAME")


@dataclass(frozen=True, kw_only=True)
class AnalyzeOptions:
    """All options of `barnabas analyze`."""

    captures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE...",
            help="Captures (pcapng or pcap, also gzip or zstd) or folders of captures; also URLs "
            "of Hadoop's file systems, such as hdfs:// or s3a://.",
        ),
    ]
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder for tables and report: new, empty, or of an earlier run. A URL must name "
            "a new folder.",
        ),
    ]
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="Where Spark runs: local[N], spark://HOST:PORT, sc://HOST:PORT (Spark Connect) "
            "...; default: this machine, all cores. A cluster must see the captures and DIR "
            "under the same paths.",
        ),
    ] = None
    engine: Annotated[
        EngineChoice,
        typer.Option(
            "--engine",
            help="What runs the analyses: spark, or sail, which needs no Java and starts within a second. "
            "auto: sail if it is installed (extra 'sail') and the work is on this machine.",
        ),
    ] = EngineChoice.AUTO
    tables: Annotated[
        tuple[str, ...],
        typer.Option(
            "--tables",
            metavar="NAMES",
            help="Also write these tables: packets, frames or packets,frames. They are by far "
            "the largest.",
            parser=parse_tables,
            show_default=False,
        ),
    ] = written(parse_tables, "")
    bodies: Annotated[
        Bodies,
        typer.Option(
            "--bodies",
            help="Bytes fields over 4 KiB in bodies: elided (their size and SHA-256), or full.",
        ),
    ] = Bodies.elided
    with_json_bodies: Annotated[
        bool,
        typer.Option(
            "--json-bodies",
            help="Also write bodies as JSON text in the column body_json, for readers without "
            "VARIANT.",
        ),
    ] = False
    form: Annotated[
        TableFormat,
        typer.Option(
            "--format",
            help="Also write the tables as Delta tables to DIR/delta, with bodies as body_json.",
        ),
    ] = TableFormat.PARQUET
    limits: Annotated[
        list[Any],
        typer.Option(
            "--set",
            metavar="quality.COLUMN=MOST",
            help="Exit with code 1 if this total of the table quality is larger, e.g. "
            "quality.gaps=0; repeatable.",
            parser=parse_limit,
        ),
    ] = field(default_factory=list)
    only: Annotated[
        list[str],
        typer.Option(
            "--only", metavar="CHECK", help="Count only findings of this check; repeatable."
        ),
    ] = field(default_factory=list)
    skip: Annotated[
        list[str],
        typer.Option(
            "--skip",
            metavar="CHECK",
            help="Do not count findings of this check; repeatable. The report lists all findings.",
        ),
    ] = field(default_factory=list)
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave out files that are no captures: the table `errors` and the report name them, and the "
            "exit code is 1.",
        ),
    ] = False
    conf: SparkSettings = field(default_factory=list)
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Continue while a proxy writes segments into the folder; Ctrl-C ends with the "
            "report.",
        ),
    ] = False
    once: Annotated[
        bool, typer.Option("--once", help="With --follow: end when all closed segments are read.")
    ] = False
    from_batch: Annotated[
        int | None,
        typer.Option(
            "--from-batch",
            metavar="N",
            min=0,
            help="Analyze only the rows that batch N and later ones added. CAPTURE is a folder "
            "written by --follow with --format, DIR a new folder. Prints the number of the next batch.",
        ),
    ] = None
    send: SendOptions = field(default_factory=SendOptions)
    tls_keys: TlsKeys = None
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary at the end as one JSON document.")
    ] = False

    def __post_init__(self) -> None:
        """Raise Trouble for options that contradict each other, and for unknown checks."""
        if self.engine is EngineChoice.SAIL and self.needs_spark:
            raise Trouble(f"--engine sail does not support {self.needs_spark}: use --engine spark")
        if self.only or self.skip:
            _ = self.checks
        if self.from_batch is not None:
            if self.follow or self.elsewhere or self.send.to_kafka is not None:
                raise Trouble(
                    "--from-batch reads tables in a local folder: omit --follow, --to-kafka and "
                    "URLs"
                )
        elif self.follow:
            if self.elsewhere:
                raise Trouble("--follow needs local folders: it can't follow a URL")
        elif self.once:
            raise Trouble("--once needs --follow: give it, too")
        elif self.send.to_kafka is not None:
            raise Trouble("--to-kafka needs --follow: give it, too")

    @property
    def needs_spark(self) -> str:
        """Return the option that only Spark supports; empty if there is none."""
        for option, is_given in (
            ("--master", self.master is not None),
            ("--follow", self.follow),
            ("URLs", self.elsewhere),
            ("--from-batch", self.from_batch is not None),
            ("--conf", bool(self.conf)),
        ):
            if is_given:
                return option
        return ""

    @property
    def chosen_engine(self) -> Engine:
        """Return the engine to use."""
        if self.engine is EngineChoice.SPARK or self.needs_spark:
            return "spark"
        from barnabas.pipeline.spark.sail import sail_installed

        return "sail" if self.engine is EngineChoice.SAIL or sail_installed() else "spark"

    @property
    def elsewhere(self) -> bool:
        """Return whether a capture or the folder is on one of Hadoop's file systems."""
        from barnabas.pipeline.spark.hadoop_files import scheme_of

        return any(map(scheme_of, (*self.captures, self.out)))

    @property
    def paths(self) -> list[Path]:
        """Return the captures as local paths. Raises Trouble for an empty name."""
        return [capture_path(text) for text in self.captures]

    @property
    def folder(self) -> Path:
        """Return the folder for tables and report as a local path."""
        return Path(self.out)

    @property
    def table_format(self) -> str | None:
        """Return the format in which tables are written in addition to Parquet; None: no other."""
        return None if self.form is TableFormat.PARQUET else self.form.value

    @property
    def json_bodies(self) -> bool:
        """Return whether bodies are written as JSON text, too."""
        return self.with_json_bodies or self.table_format is not None

    @property
    def blob(self) -> Blob:
        """Return the function that writes bytes fields of bodies."""
        from barnabas.specs.jsonform import BLOBS

        return BLOBS[self.bodies]

    @property
    def checks(self) -> tuple[Check, ...]:
        """Return the checks whose findings count. Raises Trouble for an unknown check."""
        from barnabas.captures.checks import CHECKS
        from barnabas.cli.plugins.checks import chosen

        return chosen(CHECKS, self.only, self.skip)
