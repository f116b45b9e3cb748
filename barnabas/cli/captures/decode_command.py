"""`barnabas decode`: its options, and what they ask for: captures, or one frame in hex."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.options import (
    Filter,
    JsonBodies,
    JsonBytes,
    QuietFetches,
    SchemaIdBytes,
    Schemas,
    ShowValues,
    TlsKeys,
    shown_values,
)
from barnabas.cli.traces.options import Otlp, endpoint_of
from barnabas.trouble import Trouble

DECODE_EXAMPLES: Final = (
    "Examples:\n\n  barnabas decode run.pcapng\n\n"
    "  barnabas decode run.pcapng --json | jq .request\n\n"
    "  barnabas decode run.pcapng --json --schemas http://localhost:8081 | jq .records\n\n"
    "  barnabas decode broker1.pcap.gz broker2.pcap.gz\n\n"
    "  barnabas decode run.pcapng --filter \"api == 'Produce' && latency_ms > 100\"\n\n"
    "  barnabas decode run.pcapng --otlp http://localhost:4318\n\n"
    "  barnabas decode --request '0003 0001 00000007 0001 61 ffffffff'\n\n"
    "  xxd -p response.bin | barnabas decode --response - --api Fetch --api-version 11"
)
"""What stands below its help."""

DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        "--draft",
        metavar="NAME",
        help="Read the capture as of this dialect, see `barnabas spec list --dialects`; barnabas' own "
        "captures name it.",
    ),
]


def decode_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            parser=capture_path,
            help="A capture (pcapng or pcap, also gzip or zstd); several are read as one.",
        ),
    ] = None,
    as_json: JsonBodies = False,
    bodies: JsonBytes = None,
    frames: Annotated[
        bool, typer.Option("--frames", help="One line per frame instead of per exchange.")
    ] = False,
    only: Filter = None,
    quiet_fetches: QuietFetches = None,
    tls_keys: TlsKeys = None,
    otlp: Otlp = None,
    request: Annotated[
        str | None, typer.Option(metavar="HEX", help="Decode one request in hex; - reads stdin.")
    ] = None,
    response: Annotated[
        str | None, typer.Option(metavar="HEX", help="Decode one response in hex; - reads stdin.")
    ] = None,
    api: Annotated[str | None, typer.Option(metavar="NAME", help="API of the response.")] = None,
    api_version: Annotated[
        int | None, typer.Option(metavar="N", help="Version of the API.")
    ] = None,
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="Kafka release, where its layout differs.")
    ] = None,
    dialect: DialectName = None,
    values: ShowValues = False,
    schemas: Schemas = None,
    schema_id_bytes: SchemaIdBytes = 4,
) -> None:
    """Print a capture as the live log would, or decode one frame."""
    given = [source for source in (files or None, request, response) if source is not None]
    if len(given) != 1:
        raise Trouble("decode needs one of FILE, --request HEX or --response HEX; see --help")
    if files:
        if (api, api_version, release) != (None, None, None):
            raise Trouble(
                "--api, --api-version and --release apply to --request and --response only"
            )
        from barnabas.cli.captures.decode import decode

        if quiet_fetches and (as_json or frames):
            raise Trouble("--quiet-fetches applies to lines of exchanges: omit --json and --frames")
        if otlp is not None and frames:
            raise Trouble("--otlp sends spans of exchanges: omit --frames")
        keys = read_keys(tls_keys)
        reading = shown_values(values, schemas, schema_id_bytes, wait=True)
        if reading is not None and (frames or not as_json):
            raise Trouble("--values and --schemas decode for JSON: give --json, without --frames")
        raise typer.Exit(
            decode(
                files,
                as_json=as_json,
                frames_only=frames,
                only=only,
                quiet=quiet_fetches,
                keys=keys,
                dialect=dialect,
                bodies=bodies,
                otlp=None if otlp is None else endpoint_of(otlp),
                values=reading,
            )
        )
    from barnabas.cli.captures.decode_hex import Asked, decode_hex

    for option, value in (
        ("--frames", frames or None),
        ("--filter", only),
        ("--quiet-fetches", quiet_fetches),
        ("--tls-keys", tls_keys),
        ("--bodies", bodies),
        ("--otlp", otlp),
        ("--values", values or None),
        ("--schemas", schemas),
    ):
        if value is not None:
            raise Trouble(f"{option} applies to a capture file")
    text = request if request is not None else response
    assert text is not None  # noqa: S101
    direction: Literal["request", "response"] = "response" if request is None else "request"
    asked = Asked(text, direction, api, api_version, release, dialect, as_json)
    raise typer.Exit(decode_hex(asked))
