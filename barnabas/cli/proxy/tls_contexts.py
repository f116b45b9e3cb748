"""The TLS contexts of the options, made before anything listens."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.cli.console.extras import needs
from barnabas.cli.console.parameters import given
from barnabas.cli.console.pem import Named, check_authority, load_pair, readable, why
from barnabas.cli.proxy.tls_options import BrokerTls, ClientTls, TlsOptions
from barnabas.proxy.network.tls import Mint, Tls, broker_context, fixed
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    import trustme


def make_tls(options: TlsOptions) -> Tls:
    """Return the TLS settings of both sides of a proxy. Raises Trouble for an unreadable file."""
    broker = broker_tls(options.brokers)
    mint, trust = None, None
    if options.clients.client_cert is not None:
        mint = _own(options.clients, options.clients.client_cert)
    elif options.clients.client_tls:
        mint, trust = _minted(options.clients)
    return Tls(broker, options.brokers.broker_server_name, mint, trust)


def broker_tls(options: BrokerTls) -> ssl.SSLContext | None:
    """Return the context for connections to brokers; None: without TLS. Raises Trouble."""
    if not given(options):
        return None
    readable("--broker-ca", options.broker_ca)
    try:
        context = broker_context(options.broker_ca, verify=not options.broker_insecure)
    except OSError as problem:
        raise Trouble(f"--broker-ca {options.broker_ca}: {why(problem)}") from None
    if options.broker_cert is not None:
        _load(context, "broker", options.broker_cert, options.broker_key)
    return context


def _own(options: ClientTls, certificate: Path) -> Mint:
    # a separate context finds the invalid file
    _load(ssl.create_default_context(), "client", certificate, options.client_key)
    check_authority("--client-ca", options.client_ca)
    return fixed(certificate, options.client_key, options.client_ca)


def _load(context: ssl.SSLContext, side: str, certificate: Path, key: Path | None) -> None:
    other = f"--{side}-key"
    pair = Named(f"--{side}-cert", certificate), None if key is None else Named(other, key)
    load_pair(context, *pair, other)


def _minted(options: ClientTls) -> tuple[Mint, Path]:
    with needs("--client-tls", "tls"):
        from barnabas.proxy.network.certificate_authority import CERTIFICATE, authority, minted
    check_authority("--client-ca", options.client_ca)
    folder = data_folder() / "ca"
    try:
        ca: trustme.CA = authority(folder)
    except (OSError, ValueError) as problem:
        reason = why(problem) if isinstance(problem, OSError) else "it is not a valid CA"
        raise Trouble(
            f"the CA for --client-tls in {folder}: {reason}; remove it for a new one"
        ) from None
    return minted(ca, options.client_ca), folder / CERTIFICATE


def check_name(option: str, host: str) -> None:
    """Raise Trouble if a certificate of --client-tls can't have the host of an option."""
    from barnabas.proxy.network.certificate_authority import certifiable

    if not certifiable(host.partition("%")[0]):
        raise Trouble(
            f"{option} {host}: no certificate can have this name; give another for --client-tls, or "
            "bring a certificate (--client-cert)"
        )


def data_folder() -> Path:
    """Return the folder for a user's data (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "share") / "barnabas"
