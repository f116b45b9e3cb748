"""The TLS options of `barnabas proxy`: checked, and made into contexts before anything listens."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.cli.console.pem import Named, check_authority, load_pair, readable, why
from barnabas.proxy.network.tls import Mint, Tls, broker_context, fixed
from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    import trustme


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """As they stand on the command line."""

    broker_tls: bool = False
    broker_ca: Path | None = None
    broker_cert: Path | None = None
    broker_key: Path | None = None
    broker_server_name: str | None = None
    broker_insecure: bool = False
    client_tls: bool = False
    client_cert: Path | None = None
    client_key: Path | None = None
    client_ca: Path | None = None

    @property
    def given(self) -> list[str]:
        """The options that were given, as a person writes them."""
        return [_option(name) for name in self.__slots__ if getattr(self, name)]

    @property
    def to_brokers(self) -> list[str]:
        """Those that turn TLS to the brokers on."""
        return [option for option in self.given if option.startswith("--broker")]

    @property
    def files(self) -> dict[str, Path]:
        """The files that were given, by their options."""
        found = {_option(name): getattr(self, name) for name in self.__slots__}
        return {option: path for option, path in found.items() if isinstance(path, Path)}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def make_tls(options: TlsOptions) -> Tls:
    """What the proxy shall speak. Raises Trouble for what contradicts itself or can't be read."""
    _check(options)
    broker = None
    if options.to_brokers:
        broker = _broker(options)
    mint, trust = None, None
    if options.client_cert is not None:
        mint = _own(options, options.client_cert)
    elif options.client_tls:
        mint, trust = _minted(options)
    return Tls(broker, options.broker_server_name, mint, trust)


def _check(options: TlsOptions) -> None:
    if options.broker_insecure and options.broker_ca is not None:
        raise Trouble("--broker-insecure checks nothing, --broker-ca is to check by: give one")
    if options.broker_key is not None and options.broker_cert is None:
        raise Trouble("--broker-key belongs to a certificate: give --broker-cert too")
    if options.client_key is not None and options.client_cert is None:
        raise Trouble("--client-key belongs to a certificate: give --client-cert too")
    if options.client_tls and options.client_cert is not None:
        raise Trouble("--client-tls makes certificates, --client-cert brings one: give one of them")
    if options.broker_server_name is not None:
        try:
            ssl.create_default_context().wrap_bio(
                ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname=options.broker_server_name
            )
        except (ValueError, OSError):
            name = options.broker_server_name
            raise Trouble(f"--broker-server-name {name!r}: no server can have this name") from None
    if options.client_ca is not None and not (options.client_tls or options.client_cert):
        raise Trouble("--client-ca is for clients that speak TLS: give --client-tls too")


def _broker(options: TlsOptions) -> ssl.SSLContext:
    readable("--broker-ca", options.broker_ca)
    try:
        context = broker_context(options.broker_ca, verify=not options.broker_insecure)
    except OSError as problem:
        raise Trouble(f"--broker-ca {options.broker_ca}: {why(problem)}") from None
    if options.broker_cert is not None:
        _load(context, "broker", options.broker_cert, options.broker_key)
    return context


def _own(options: TlsOptions, certificate: Path) -> Mint:
    # a context of its own says which of the files is wrong
    _load(ssl.create_default_context(), "client", certificate, options.client_key)
    check_authority("--client-ca", options.client_ca)
    return fixed(certificate, options.client_key, options.client_ca)


def _load(context: ssl.SSLContext, side: str, certificate: Path, key: Path | None) -> None:
    other = f"--{side}-key"
    pair = Named(f"--{side}-cert", certificate), None if key is None else Named(other, key)
    load_pair(context, *pair, other)


def _minted(options: TlsOptions) -> tuple[Mint, Path]:
    try:
        from barnabas.proxy.network.certificate_authority import CERTIFICATE, authority, minted
    except ImportError as problem:
        line = f"--client-tls needs the package {problem.name}: pip install 'barnabas[tls]'"
        raise Trouble(line, COULD_NOT_RUN) from None
    check_authority("--client-ca", options.client_ca)
    folder = data_folder() / "ca"
    try:
        ca: trustme.CA = authority(folder)
    except (OSError, ValueError) as problem:
        said = why(problem) if isinstance(problem, OSError) else "it is no CA any longer"
        raise Trouble(
            f"the CA for --client-tls in {folder}: {said}; remove it for a new one"
        ) from None
    return minted(ca, options.client_ca), folder / CERTIFICATE


def check_name(option: str, host: str) -> None:
    """Raises Trouble if no certificate that --client-tls makes can be for the host of an option."""
    from barnabas.proxy.network.certificate_authority import certifiable

    if not certifiable(host.partition("%")[0]):
        raise Trouble(
            f"{option} {host}: no certificate can have this name; give another for --client-tls, or "
            "bring a certificate (--client-cert)"
        )


def data_folder() -> Path:
    """Where a user's data belongs (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "share") / "barnabas"
