"""The options of `barnabas top`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from barnabas.cli.console.options import TlsKeys
from barnabas.trouble import Trouble

HTTP = "http://"


@dataclass(frozen=True, kw_only=True)
class TopOptions:
    """All options of `barnabas top`."""

    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="[HOST:PORT | FILE...]",
            help="The control port of a running proxy, or captures, which are read as one.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    control: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", envvar="BARNABAS_CONTROL", help="The control port."),
    ] = None
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", envvar="BARNABAS_TOKEN", help="The control port's token."),
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", envvar="BARNABAS_TOKEN_FILE", help="The file with the token."),
    ] = None
    interval: Annotated[
        float,
        typer.Option(
            "--interval",
            "-n",
            metavar="SECONDS",
            min=0.1,
            max=30,
            help="Seconds between two updates.",
        ),
    ] = 1.0
    once: Annotated[
        bool, typer.Option("--once", help="Print one snapshot, as without a terminal.")
    ] = False
    as_json: Annotated[
        bool,
        typer.Option("--json", help="JSON: a line each interval, or one document with --once."),
    ] = False
    tls_keys: TlsKeys = None

    def __post_init__(self) -> None:
        """Raise Trouble for several proxies, and for a proxy together with captures."""
        addresses = [text for text in self.sources if is_address(text)]
        if addresses and len(self.sources) > 1:
            raise Trouble("top shows one proxy, or captures: give one address, or files")

    @property
    def address(self) -> str | None:
        """Return the control port's address; None: captures are given."""
        if not self.sources:
            return self.control
        text = self.sources[0]
        return text.removeprefix(HTTP).partition("/")[0] if is_address(text) else None

    @property
    def address_token(self) -> str | None:
        """Return the token of the control port: the option, or the part of a page's address."""
        text = self.sources[0] if self.sources else ""
        return self.token or text.partition("#token=")[2] or None


def is_address(text: str) -> bool:
    """Check that a text is an address, not a file.

    >>> is_address("127.0.0.1:9999"), is_address("http://localhost:80/"), is_address("run.pcapng")
    (True, True, False)
    """
    if text.startswith(HTTP):
        return True
    host, colon, port = text.rpartition(":")
    return bool(host and colon and port.isdecimal()) and not Path(text).exists()
