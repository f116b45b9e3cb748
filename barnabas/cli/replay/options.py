"""The options of `barnabas replay`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from barnabas.addresses import parse_servers
from barnabas.cli.captures.files import capture_path
from barnabas.cli.console.options import Filter, Ignore, JsonLines, TlsKeys
from barnabas.cli.console.parameters import given, written
from barnabas.cli.proxy.tls_options import BrokerTls
from barnabas.nearest import choices
from barnabas.peers.ownership import OPTION
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.peers.replay.authentication import Credentials


def parse_speed(text: str) -> float:
    """Parse a factor of speed; `max` is 0: without waiting.

    >>> parse_speed("10"), parse_speed("max")
    (10.0, 0.0)
    """
    try:
        speed = 0.0 if text == "max" else float(text)
    except ValueError:
        speed = -1.0
    if text != "max" and not 0 < speed < float("inf"):
        raise Trouble(f"--speed {text}: expected a number above 0, or max")
    return speed


def parse_key(text: str) -> int:
    """Parse the name of an API."""
    from barnabas.specs.registry import key_of

    try:
        return key_of(text)
    except LookupError as problem:
        raise ValueError(problem.args[0]) from None


@dataclass(frozen=True, kw_only=True)
class SaslOptions:
    """Credentials for all connections."""

    sasl_mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help="PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.")
    ] = None
    sasl_username: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The user that all connections log in as."),
    ] = None
    sasl_password_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the password in its first line.")
    ] = None

    def credentials(self) -> Credentials | None:
        """Return the credentials; None: without SASL.

        Raises:
            Trouble: An option is missing or unknown, or the password file is unreadable.
        """
        from barnabas.peers.replay.authentication import MECHANISMS, Credentials, password_in

        if not given(self):
            return None
        mechanism, username, file = (
            self.sasl_mechanism,
            self.sasl_username,
            self.sasl_password_file,
        )
        if mechanism is None or username is None or file is None:
            raise Trouble("SASL needs --sasl-mechanism, --sasl-username and --sasl-password-file")
        if mechanism not in MECHANISMS:
            hint = choices(mechanism, MECHANISMS)
            raise Trouble(f"--sasl-mechanism {mechanism}: unknown{hint}")
        try:
            password = password_in(file)
        except ValueError as problem:
            raise Trouble(f"--sasl-password-file {file}: {problem}") from None
        return Credentials(mechanism, username, password)


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """All options of `barnabas replay`."""

    file: Annotated[Path, typer.Argument(metavar="FILE", parser=capture_path, help="A capture.")]
    bootstrap_server: Annotated[
        Sequence[tuple[str, int]],
        typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT[,...]",
            help="The brokers to start from.",
            parser=parse_servers,
        ),
    ]
    speed: Annotated[
        float,
        typer.Option(
            metavar="N|max",
            help="Factor: 10 replays in a tenth of the recorded time; max does not wait.",
            parser=parse_speed,
        ),
    ] = written(parse_speed, "1")
    only: Filter = None
    allow: Annotated[
        list[int],
        typer.Option(
            metavar="API",
            help="Also send requests of this API; repeatable. By default only reads, Produce and "
            "group requests are sent.",
            parser=parse_key,
        ),
    ] = field(default_factory=list)
    shift_time: Annotated[
        bool,
        typer.Option(
            "--shift-time",
            help="Shift record timestamps to now, so that retention keeps the records.",
        ),
    ] = False
    ignore: Ignore = field(default_factory=list)
    everything: Annotated[
        bool,
        typer.Option(
            "--everything", help="Also compare fields that differ in each run and cluster."
        ),
    ] = False
    owned: Annotated[
        bool,
        typer.Option(OPTION, help="Allow brokers on other machines: you own them."),
    ] = False
    tls: BrokerTls = field(default_factory=BrokerTls)
    sasl: SaslOptions = field(default_factory=SaslOptions)
    tls_keys: TlsKeys = None
    as_json: JsonLines = False
