"""The options of `barnabas serve-tests`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from barnabas.addresses import parse_servers
from barnabas.broker_kinds import STARTABLE, is_kind
from barnabas.cli.console.parameters import given, written
from barnabas.cli.console.parsing import parse_folder, parse_listen, parse_seconds
from barnabas.cli.proxy.tls_options import TlsOptions
from barnabas.trouble import Trouble


def parse_cluster(text: str) -> Sequence[tuple[str, int]] | str:
    """Parse addresses, or return the kind of brokers that a text names. Raises Trouble."""
    if is_kind(text):
        return text
    try:
        return parse_servers(text)
    except Trouble as problem:
        raise Trouble(f"{problem}; or {STARTABLE}") from None


@dataclass(frozen=True, kw_only=True)
class ServeTestsOptions:
    """All options of `barnabas serve-tests`."""

    bootstrap_server: Annotated[
        Sequence[tuple[str, int]] | str,
        typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT[,...]|KIND",
            help=f"The cluster behind the proxies, or what to start: {STARTABLE}.",
            parser=parse_cluster,
        ),
    ] = written(parse_cluster, "embedded")
    listen: Annotated[
        tuple[str, int],
        typer.Option(
            "--listen",
            "-l",
            metavar="HOST:PORT",
            help="Address of the HTTP API (loopback); port 0 picks one.",
            parser=parse_listen,
        ),
    ] = written(parse_listen, "127.0.0.1:0")
    test_timeout: Annotated[
        float,
        typer.Option(
            metavar="TIME",
            help="End a test after this time without a request about it.",
            parser=parse_seconds,
        ),
    ] = written(parse_seconds, "10m")
    captures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the tests' captures in this folder; otherwise they are removed some time "
            "after the test.",
            show_default=False,
            parser=parse_folder,
        ),
    ] = None
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the token to this file.")
    ] = None
    tls: TlsOptions = field(default_factory=TlsOptions)

    def __post_init__(self) -> None:
        """Raise Trouble for a timeout of 0, and for TLS to brokers that are started, which have none."""
        if not self.test_timeout:
            raise Trouble("--test-timeout: must be longer than 0; e.g. 10m")
        for option in given(self.tls.brokers) if isinstance(self.bootstrap_server, str) else ():
            raise Trouble(
                f"{option}: the brokers of -b {self.bootstrap_server} speak no TLS; name a cluster "
                "of yours by --bootstrap-server"
            )
