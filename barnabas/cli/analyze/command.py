"""`barnabas analyze`: its options, and the job that they ask for."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.console.options import Bodies, Conf, TlsKeys, spark_settings
from barnabas.trouble import Trouble

ANALYZE_EXAMPLES: Final = (
    "Examples:\n\n  barnabas analyze run.pcapng --out analysis\n\n"
    "  barnabas analyze captures/ 'more/*.pcap.gz' --out analysis\n\n"
    "  barnabas analyze captures/ --out /shared/analysis --master spark://master:7077 "
    "--conf spark.executor.memory=4g\n\n"
    "  barnabas analyze captures/ --out /shared/analysis --master sc://spark.example.org\n\n"
    "  barnabas analyze run.pcapng --out analysis --json | jq .findings\n\n"
    "  barnabas analyze run.pcapng --out analysis --tables packets,frames\n\n"
    "  barnabas analyze captures/ --out analysis --set quality.gaps=0 --set quality.undecodable=10\n\n"
    "  barnabas analyze run.pcapng --out analysis --skip heartbeats --skip joins\n\n"
    "  barnabas analyze --follow captures/ --out analysis\n\n"
    "  barnabas analyze --follow captures/ --out analysis --to-kafka broker:9092 --topic exchanges\n\n"
    "  barnabas analyze --follow captures/ --out analysis --format delta\n\n"
    "  barnabas analyze analysis --from-batch 0 --out added-0 --json | jq .next_batch"
)
"""What stands below its help."""


class TableFormat(StrEnum):
    """How tables are written."""

    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


def analyze_command(
    captures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE...",
            help="Captures (pcapng or pcap, also gzip or zstd), or folders; also of Hadoop's file "
            "systems, such as hdfs:// or s3a://.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder for tables and report: new, empty, or of an earlier run; a new one, if it has "
            "a scheme.",
        ),
    ],
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="Where Spark runs: local[N], spark://HOST:PORT, sc://HOST:PORT (Spark Connect) "
            "...; default: this machine, all cores. A cluster must see the captures and DIR "
            "under the same paths.",
        ),
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables",
            metavar="NAMES",
            help="Also write these tables: packets, frames or packets,frames. They are by far "
            "the largest.",
        ),
    ] = None,
    bodies: Annotated[
        Bodies,
        typer.Option(
            "--bodies",
            help="Bytes fields over 4 KiB in bodies: elided (their size and SHA-256), or full.",
        ),
    ] = Bodies.elided,
    json_bodies: Annotated[
        bool,
        typer.Option(
            "--json-bodies",
            help="Also write bodies as JSON text, body_json, for readers that know no VARIANT.",
        ),
    ] = False,
    table_format: Annotated[
        TableFormat,
        typer.Option(
            "--format",
            help="delta, iceberg: write the tables as Delta or Iceberg tables, too, in DIR/delta or "
            "DIR/iceberg, with bodies as body_json.",
        ),
    ] = TableFormat.PARQUET,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="quality.COLUMN=MOST",
            help="Set a threshold of the table quality, over all captures: above it the exit code "
            "is 1; repeatable. Such as quality.gaps=0.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CHECK", help="Count findings of this check; repeatable."),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            "--skip",
            metavar="CHECK",
            help="Do not count findings of this check; repeatable. The report has those of all.",
        ),
    ] = None,
    conf: Conf = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Continue while a proxy writes segments into the folder; Ctrl-C ends with the "
            "report.",
        ),
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="With --follow: end when all closed segments are read.")
    ] = False,
    from_batch: Annotated[
        int | None,
        typer.Option(
            "--from-batch",
            metavar="N",
            min=0,
            help="Analyze only what batches from N on, of a folder that is followed with --format, have "
            "added to its tables: CAPTURE is that folder, DIR a new one. It prints the next N.",
        ),
    ] = None,
    to_kafka: Annotated[
        str | None,
        typer.Option(
            "--to-kafka",
            metavar="HOST:PORT[,...]",
            help="With --follow: also send exchanges, as JSON, to a topic of these brokers.",
        ),
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="NAME", help="Of --to-kafka.")
    ] = None,
    kafka_properties: Annotated[
        Path | None,
        typer.Option(
            "--kafka-properties",
            metavar="FILE",
            help="How the producer of --to-kafka is configured, such as its TLS and SASL: lines "
            "NAME=VALUE.",
        ),
    ] = None,
    tls_keys: TlsKeys = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary at the end as one JSON document.")
    ] = False,
) -> None:
    """Make tables, analyses and an HTML report of captures of any size, on Spark.

    Exit code 1: errors or warnings among the findings (notes are none), as `barnabas check` has it, or a
    threshold that was exceeded.
    """
    from barnabas.captures.checks import CHECKS
    from barnabas.cli.analyze.analyze import Wanted, analyze
    from barnabas.cli.analyze.kafka_topic import kafka_topic
    from barnabas.cli.plugins.checks import chosen
    from barnabas.pipeline.spark.hadoop_files import scheme_of
    from barnabas.pipeline.tables.limits import limit
    from barnabas.specs.jsonform import BLOBS

    spark = spark_settings(conf)
    try:
        limits = [limit(text) for text in settings or ()]
    except ValueError as problem:
        raise Trouble(f"--set: {problem}") from None
    also = tuple(dict.fromkeys(filter(None, (tables or "").split(","))))
    checks = chosen(CHECKS, only or (), skip or ())
    sent = kafka_topic(to_kafka, topic, kafka_properties)
    elsewhere = any(map(scheme_of, (*captures, out)))
    paths = [] if elsewhere else [capture_path(text) for text in captures]
    other = None if table_format is TableFormat.PARQUET else table_format.value
    wanted = Wanted(
        paths,
        Path(out),
        master,
        spark,
        tls_keys,
        as_json,
        also,
        limits,
        json_bodies=json_bodies or other is not None,
        blob=BLOBS[bodies],
        checks=checks,
        topic=sent,
        table_format=other,
    )
    if from_batch is not None:
        from barnabas.cli.analyze.added import analyze_added

        if follow or elsewhere or sent is not None:
            raise Trouble(
                "--from-batch is about tables that are there, in a folder of this machine"
            )
        raise typer.Exit(analyze_added(wanted, from_batch))
    if follow and elsewhere:
        raise Trouble("--follow needs folders of this machine: what has a scheme is not followed")
    if follow:
        from barnabas.cli.analyze.follow import follow as follow_folder

        raise typer.Exit(follow_folder(wanted, until_read=once))
    if once:
        raise Trouble("--once says when --follow ends: give both")
    if sent is not None:
        raise Trouble(
            "--to-kafka sends the exchanges of a folder that is followed: give --follow, too"
        )
    if elsewhere:
        from barnabas.cli.analyze.elsewhere import analyze_elsewhere

        raise typer.Exit(analyze_elsewhere(captures, out, wanted))
    raise typer.Exit(analyze(wanted))
