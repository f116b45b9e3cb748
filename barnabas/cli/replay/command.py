"""`barnabas replay`: its options, and the replay that they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from barnabas.cli.captures.files import capture_path
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.options import BrokerCa, BrokerTls, Filter, Ignore, JsonLines, TlsKeys
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
    file: Annotated[
        Path, typer.Argument(metavar="FILE", parser=capture_path, help="A capture (pcapng).")
    ],
    bootstrap_server: Annotated[
        str,
        typer.Option(
            "--bootstrap-server", "-b", metavar="HOST:PORT[,...]", help="The live cluster."
        ),
    ],
    speed: Annotated[
        str,
        typer.Option(metavar="N|max", help="10: in a tenth of the recorded time; max: at once."),
    ] = "1",
    only: Filter = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="API", help="Send it too, beside what reads, produces and manages groups."
        ),
    ] = None,
    shift_time: Annotated[
        bool,
        typer.Option("--shift-time", help="Records are of today: retention leaves them alone."),
    ] = False,
    ignore: Ignore = None,
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Also what each run and cluster has otherwise."),
    ] = False,
    own: Annotated[
        bool,
        typer.Option(OPTION, help="Brokers may be on other machines than this one."),
    ] = False,
    broker_tls: BrokerTls = False,
    broker_ca: BrokerCa = None,
    broker_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Our certificate, if they ask for one.")
    ] = None,
    broker_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its key, if it is in another file.")
    ] = None,
    broker_insecure: Annotated[
        bool, typer.Option("--broker-insecure", help="TLS to the brokers, whoever they are.")
    ] = False,
    sasl_mechanism: Annotated[
        str | None, typer.Option(metavar="NAME", help="PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.")
    ] = None,
    sasl_username: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who all recorded clients are now.")
    ] = None,
    sasl_password_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its first line is the password.")
    ] = None,
    tls_keys: TlsKeys = None,
    as_json: JsonLines = False,
) -> None:
    """Ask a live cluster what recorded clients asked; exit code 1 if any answer is another one."""
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
        raise Trouble(f"--speed {text}: a number above 0 is expected, or max")
    return found


def _credentials(
    mechanism: str | None, username: str | None, password_file: Path | None
) -> Credentials | None:
    """Raises Trouble if one is missing of what belongs together, or can't be read."""
    from barnabas.peers.replay.authentication import MECHANISMS, Credentials

    if mechanism is None and username is None and password_file is None:
        return None
    if mechanism is None or username is None or password_file is None:
        raise Trouble("SASL wants --sasl-mechanism, --sasl-username and --sasl-password-file")
    if mechanism not in MECHANISMS:
        raise Trouble(f"--sasl-mechanism {mechanism}: it is one of {', '.join(MECHANISMS)}")
    try:
        password = password_file.read_text().split("\n")[0].removesuffix("\r")
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is no text"
        raise Trouble(f"--sasl-password-file {password_file}: {why}") from None
    return Credentials(mechanism, username, password)
