"""Options of TLS: to the brokers, for all commands that connect to brokers, and to the clients of a proxy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from barnabas.cli.console.parameters import MAIN, given
from barnabas.trouble import Trouble


@dataclass(frozen=True, kw_only=True)
class BrokerTls:
    """TLS to the brokers: any of these options turns it on."""

    PANEL: ClassVar = "TLS to the brokers"

    broker_tls: Annotated[
        bool,
        typer.Option(
            "--broker-tls",
            help="TLS to the brokers, checked by the system's CAs.",
            rich_help_panel=MAIN,
        ),
    ] = False
    broker_ca: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TLS to the brokers, checked by this CA."),
    ] = None
    broker_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The certificate to show to brokers that require one (mutual TLS).",
        ),
    ] = None
    broker_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The key of --broker-cert, if it is in another file."),
    ] = None
    broker_insecure: Annotated[
        bool,
        typer.Option(
            "--broker-insecure", help="TLS to the brokers without checking their certificates."
        ),
    ] = False

    def __post_init__(self) -> None:
        """Raise Trouble for options that contradict each other."""
        if self.broker_insecure and self.broker_ca is not None:
            raise Trouble(
                "--broker-insecure verifies no certificates, --broker-ca does: give one of them"
            )
        if self.broker_key is not None and self.broker_cert is None:
            raise Trouble("--broker-key belongs to a certificate: give --broker-cert too")


@dataclass(frozen=True, kw_only=True)
class ProxyBrokerTls(BrokerTls):
    """TLS to brokers whose certificates may have another name than the host."""

    broker_server_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name expected in the brokers' certificates, if it differs from the host.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble for options that contradict each other, and for an invalid server name."""
        super().__post_init__()
        if self.broker_server_name is None:
            return
        import ssl

        try:
            ssl.create_default_context().wrap_bio(
                ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname=self.broker_server_name
            )
        except (ValueError, OSError):
            name = self.broker_server_name
            raise Trouble(f"--broker-server-name {name!r}: no server can have this name") from None


@dataclass(frozen=True, kw_only=True)
class ClientTls:
    """TLS to the clients of a proxy."""

    PANEL: ClassVar = "TLS to the clients"

    client_tls: Annotated[
        bool,
        typer.Option(
            "--client-tls",
            help="TLS to clients, with certificates of a CA made on first use.",
            rich_help_panel=MAIN,
        ),
    ] = False
    client_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TLS to clients with this certificate (PEM)."),
    ] = None
    client_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key of --client-cert.")
    ] = None
    client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Require clients to have a certificate of this CA (mutual TLS)."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble for options that contradict each other."""
        if self.client_key is not None and self.client_cert is None:
            raise Trouble("--client-key belongs to a certificate: give --client-cert too")
        if self.client_tls and self.client_cert is not None:
            raise Trouble(
                "--client-tls generates certificates, --client-cert supplies one: give one of them"
            )
        if self.client_ca is not None and not (self.client_tls or self.client_cert):
            raise Trouble("--client-ca is for clients that speak TLS: give --client-tls too")


@dataclass(frozen=True, kw_only=True)
class TlsOptions:
    """TLS on both sides of a proxy."""

    brokers: ProxyBrokerTls = field(default_factory=ProxyBrokerTls)
    clients: ClientTls = field(default_factory=ClientTls)

    @property
    def files(self) -> dict[str, Path]:
        """Return the given files by option."""
        return {option: path for option, path in given(self).items() if isinstance(path, Path)}
