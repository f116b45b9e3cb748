"""`barnabas replay`: its options, and the replay that they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.options import (
    BrokerCa,
    BrokerTls,
    Filter,
    Ignore,
    JsonLines,
    Servers,
    TlsKeys,
)
from barnabas.nearest import choices
from barnabas.peers.ownership import OPTION
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.peers.replay.authentication import Credentials

REPLAY_EXAMPLES: Final = (
    "Examples:\n\n"
    "  barnabas replay run.pcapng -b localhost:9092 --speed max\n\n"
    "  barnabas replay run.pcapng -b localhost:9092 --speed 10 --shift-time\n\n"
    "  barnabas replay run.pcapng -b localhost:9092 --filter \"client_id == 'orders'\" "
    "--ignore base_offset --json | jq .response\n\n"
    "  barnabas replay run.pcapng -b localhost:9092 --allow CreateTopics"
)
"""What stands below its help."""


def replay_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=capture_path, help="A capture.")],
    bootstrap_server: Servers,
    speed: Annotated[
        str,
        typer.Option(
            metavar="N|max",
            help="Factor: 10 replays in a tenth of the recorded time; max does not wait.",
        ),
    ] = "1",
    only: Filter = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="API",
            help="Also send this API, beside those that read, produce and manage "
            "groups; repeatable.",
        ),
    ] = None,
    shift_time: Annotated[
        bool,
        typer.Option(
            "--shift-time",
            help="Shift record timestamps to now, so that retention keeps the records.",
        ),
    ] = False,
    ignore: Ignore = None,
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Also compare what differs in each run and cluster."),
    ] = False,
    own: Annotated[
        bool,
        typer.Option(OPTION, help="Allow brokers on other machines: you own them."),
    ] = False,
    broker_tls: BrokerTls = False,
    broker_ca: BrokerCa = None,
    broker_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Client certificate (mutual TLS).")
    ] = None,
    broker_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Key of the client certificate, if in another file."),
    ] = None,
    broker_insecure: Annotated[
        bool,
        typer.Option(
            "--broker-insecure", help="TLS to the brokers, without verifying their certificates."
        ),
    ] = False,
    sasl_mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help="PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.")
    ] = None,
    sasl_username: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The user that all recorded clients log in as."),
    ] = None,
    sasl_password_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the password in its first line.")
    ] = None,
    tls_keys: TlsKeys = None,
    as_json: JsonLines = False,
) -> None:
    """Replay recorded requests against a live cluster; exit code 1 if any response differs."""
    from barnabas.addresses import parse_servers
    from barnabas.cli.proxy.tls_options import TlsOptions, make_tls
    from barnabas.cli.replay.replay import Replay, replay
    from barnabas.specs.registry import key_of

    tls = TlsOptions(broker_tls, broker_ca, broker_cert, broker_key, None, broker_insecure)
    try:
        allowed = frozenset(map(key_of, allow or ()))
    except LookupError as problem:
        raise Trouble(f"--allow: {problem.args[0]}") from None
    asked = Replay(
        file,
        tuple(parse_servers(bootstrap_server)),
        speed=_speed(speed),
        only=only,
        allowed=allowed,
        shift_time=shift_time,
        ignore=tuple(ignore or ()),
        everything=everything,
        own=own,
        as_json=as_json,
        tls=make_tls(tls).broker,
        credentials=_credentials(sasl_mechanism, sasl_username, sasl_password_file),
        keys=read_keys(tls_keys),
    )
    raise typer.Exit(replay(asked))


def _speed(text: str) -> float:
    """How many times as fast; 0: as fast as it goes. Raises Trouble.

    >>> _speed("10"), _speed("max")
    (10.0, 0.0)
    """
    try:
        found = 0.0 if text == "max" else float(text)
    except ValueError:
        found = -1.0
    if text != "max" and not 0 < found < float("inf"):
        raise Trouble(f"--speed {text}: expected a number above 0, or max")
    return found


def _credentials(
    mechanism: str | None, username: str | None, password_file: Path | None
) -> Credentials | None:
    """Raises Trouble if one is missing of what belongs together, or can't be read."""
    from barnabas.peers.replay.authentication import MECHANISMS, Credentials, password_in

    if mechanism is None and username is None and password_file is None:
        return None
    if mechanism is None or username is None or password_file is None:
        raise Trouble("SASL needs --sasl-mechanism, --sasl-username and --sasl-password-file")
    if mechanism not in MECHANISMS:
        hint = choices(mechanism, MECHANISMS)
        raise Trouble(f"--sasl-mechanism {mechanism}: that is unknown{hint}")
    try:
        password = password_in(password_file)
    except ValueError as problem:
        raise Trouble(f"--sasl-password-file {password_file}: {problem}") from None
    return Credentials(mechanism, username, password)
