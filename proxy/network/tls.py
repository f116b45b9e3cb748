"""TLS on either side of the proxy: to the brokers as a client, to clients as the brokers.

The proxy ends one and begins another, since what is encrypted can't be read or patched.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

Mint = Callable[[tuple[str, ...]], ssl.SSLContext]
"""Makes the context of a listener whose clients know it by these names."""

_PLAIN = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST")
"""What OpenSSL calls a first record that is none."""

HANDSHAKE: float = 10.0
"""Seconds that a TLS handshake may take."""


@dataclass(frozen=True, slots=True)
class Tls:
    """What the proxy speaks: plain text on the sides for which nothing is given."""

    broker: ssl.SSLContext | None = None
    """With which it goes to brokers."""
    server_name: str | None = None
    """The name that brokers' certificates are checked for; None: the host that is dialled."""
    client: Mint | None = None
    """What clients are shown."""
    trust: Path | None = None
    """The CA that clients must trust for that, if it is the proxy's own."""

    def explain(self) -> list[str]:
        """A line for each side that is encrypted."""
        lines = []
        if self.broker is not None:
            name = f" for the name {self.server_name}" if self.server_name else ""
            lines.append(f"tls: to the brokers, verifying their certificates{name}")
            if self.broker.verify_mode == ssl.CERT_NONE:
                lines[-1] = (
                    "WARNING: tls to the brokers without verifying their certificates: "
                    "anybody can impersonate them"
                )
        if self.client is not None:
            lines.append("tls: to the clients, with certificates of the proxy")
            if self.trust is not None:
                lines.append(f"tls: clients must trust the CA in {self.trust}")
        return lines


def broker_context(
    ca: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    *,
    verify: bool = True,
) -> ssl.SSLContext:
    """A context for brokers: `ca` they are checked by (PEM; None: the system's), ours if they ask.

    Raises OSError (ssl.SSLError is one) for files that can't be read or are none of the kind.
    """
    context = ssl.create_default_context(cafile=ca)
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def fixed(certificate: Path, key: Path | None, client_ca: Path | None = None) -> Mint:
    """The same certificate (PEM) for all listeners; clients need one by `client_ca` if it is given.

    Raises OSError for files that can't be read or are none of the kind.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    require_certificate(context, client_ca)
    return lambda _names: context


def require_certificate(context: ssl.SSLContext, client_ca: Path | None) -> None:
    """Ask clients for a certificate by this CA (PEM), if one is given."""
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED


def reason(problem: ssl.SSLError | OSError) -> str:
    """What went wrong in a handshake, as a person reads it.

    >>> reason(ssl.SSLCertVerificationError(1, "[SSL: X] certificate verify failed: expired (_ssl.c:1)"))
    'certificate verify failed: expired'
    """
    if getattr(problem, "reason", None) in _PLAIN:  # OpenSSL's own errors have one
        return "the peer speaks plain text, not TLS"
    if isinstance(problem, ssl.SSLEOFError | ConnectionResetError | ConnectionAbortedError):
        return "the peer closed the connection; perhaps it speaks plain text"
    if isinstance(problem, ssl.SSLError):
        text = str(problem.args[-1] if problem.args else problem)
        text = text.removeprefix("[").partition("] ")[2] or text
        said = text.partition(" (_ssl.c")[0]
        return said.lower() if text.isupper() else said
    return problem.strerror or str(problem) or type(problem).__name__


class TlsError(OSError):
    """A TLS handshake failed: with whom and why."""


@contextlib.contextmanager
def handshake(whom: str, context: ssl.SSLContext | None) -> Iterator[None]:
    """Say with whom a handshake failed, if TLS is spoken."""
    try:
        yield
    except OSError as problem:
        if context is None:
            raise
        raise TlsError(f"TLS {whom} failed: {reason(problem)}") from None


async def dismiss(client: socket.socket, context: ssl.SSLContext) -> None:
    """Finish the TLS handshake with a client and close, so that the client blames neither TLS nor itself.

    Raises OSError if the handshake fails.
    """
    loop = asyncio.get_running_loop()
    gone = loop.create_future()
    transport, _ = await loop.connect_accepted_socket(
        lambda: _Farewell(gone),
        client,
        ssl=context,
        ssl_handshake_timeout=HANDSHAKE,
        ssl_shutdown_timeout=HANDSHAKE,
    )
    try:
        transport.close()
        await gone
    finally:
        transport.abort()


class _Farewell(asyncio.Protocol):
    """A client that is not read from. gone: set when its socket is closed."""

    def __init__(self, gone: asyncio.Future[None]) -> None:
        self._gone = gone

    def connection_lost(self, exc: Exception | None) -> None:
        """Both have closed, or the client has not in time."""
        if not self._gone.done():
            self._gone.set_result(None)
