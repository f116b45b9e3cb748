"""The options of `barnabas decode`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.console.options import (
    DialectName,
    Filter,
    FollowErrors,
    JsonBodies,
    JsonBytes,
    QuietFetches,
    TlsKeys,
    ValueOptions,
    check_bodies,
)
from barnabas.cli.console.parameters import given
from barnabas.cli.traces.options import Otlp
from barnabas.trouble import Trouble

OF_CAPTURES: Final = (
    "--frames",
    "--filter",
    "--follow-errors",
    "--quiet-fetches",
    "--tls-keys",
    "--bodies",
    "--otlp",
    "--values",
    "--schemas",
)
"""Options that do not apply to one frame in hex."""


@dataclass(frozen=True, kw_only=True)
class HexOptions:
    """Options for one frame in hex."""

    request: Annotated[
        str | None, typer.Option(metavar="HEX", help="Decode one request in hex; - reads stdin.")
    ] = None
    response: Annotated[
        str | None, typer.Option(metavar="HEX", help="Decode one response in hex; - reads stdin.")
    ] = None
    api: Annotated[str | None, typer.Option(metavar="NAME", help="API of the response.")] = None
    api_version: Annotated[int | None, typer.Option(metavar="N", help="Version of the API.")] = None
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="Kafka release, where its layout differs.")
    ] = None

    @property
    def direction(self) -> Literal["request", "response"]:
        """Return the direction of the frame."""
        return "response" if self.request is None else "request"

    @property
    def text(self) -> str:
        """Return the frame in hex; `-`: it is on stdin."""
        return self.response or "" if self.request is None else self.request


@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """All options of `barnabas decode`."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[FILE]...",
            parser=capture_path,
            help="A capture (pcapng or pcap, also gzip or zstd); several are read as one.",
        ),
    ] = field(default_factory=list)
    as_json: JsonBodies = False
    bodies: JsonBytes = None
    frames: Annotated[
        bool, typer.Option("--frames", help="One line per frame instead of per exchange.")
    ] = False
    only: Filter = None
    follow_errors: FollowErrors = False
    quiet_fetches: QuietFetches = None
    tls_keys: TlsKeys = None
    otlp: Otlp = None
    hex: HexOptions = field(default_factory=HexOptions)
    dialect: DialectName = None
    values: ValueOptions = field(default_factory=ValueOptions)

    def __post_init__(self) -> None:
        """Raise Trouble for options of captures together with options of one frame."""
        frame = self.hex
        sources = [
            source
            for source in (self.files or None, frame.request, frame.response)
            if source is not None
        ]
        if len(sources) != 1:
            raise Trouble("decode needs one of FILE, --request HEX or --response HEX; see --help")
        if self.files:
            self._check_captures()
            return
        for option in given(self):
            if option in OF_CAPTURES:
                raise Trouble(f"{option} applies to a capture file")

    def _check_captures(self) -> None:
        if given(self.hex):
            raise Trouble(
                "--api, --api-version and --release apply to --request and --response only"
            )
        if self.quiet_fetches and (self.as_json or self.frames):
            raise Trouble("--quiet-fetches applies to lines of exchanges: omit --json and --frames")
        if self.otlp is not None and self.frames:
            raise Trouble("--otlp sends spans of exchanges: omit --frames")
        if self.values.shown and (self.frames or not self.as_json):
            raise Trouble("--values and --schemas decode for JSON: give --json, without --frames")
        check_bodies(self.bodies, as_json=self.as_json and not self.frames)
        if self.only is not None and self.frames:
            raise Trouble("--filter applies to exchanges: omit --frames")
        if self.follow_errors and self.frames:
            raise Trouble("--follow-errors applies to exchanges: omit --frames")
