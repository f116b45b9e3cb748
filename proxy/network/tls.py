"""TLS on either side of the proxy: a client to the brokers, a server to the clients.

The proxy ends one TLS session and begins another: encrypted bytes can be neither read nor patched.
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
"""Makes the TLS context of a listener that clients reach under these names."""

_PLAIN = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST")
"""OpenSSL's reasons for a first record that is not TLS."""

HANDSHAKE: float = 10.0
"""The timeout of a TLS handshake in seconds."""


@dataclass(frozen=True, slots=True)
class Tls:
    """The TLS settings of the proxy; a side without settings is plain text."""

    broker: ssl.SSLContext | None = None
    """The context for connections to brokers."""
    server_name: str | None = None
    """The name that brokers' certificates are checked for; None: the host that is dialled."""
    client: Mint | None = None
    """Makes the contexts for clients."""
    trust: Path | None = None
    """The file of the proxy's own CA, which clients must trust."""

    def explain(self) -> list[str]:
        """Return a line for each encrypted side."""
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
    """Return a context for connections to brokers.

    `ca` (PEM) verifies the brokers; None is the system's store. The proxy shows its certificate if brokers
    ask for one.

    Raises:
        OSError: A file cannot be read or has the wrong content; ssl.SSLError is an OSError.
    """
    context = ssl.create_default_context(cafile=ca)
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def fixed(certificate: Path, key: Path | None, client_ca: Path | None = None) -> Mint:
    """Return a function that gives all listeners the same certificate (PEM).

    With `client_ca`, clients need a certificate by it.

    Raises:
        OSError: A file cannot be read or has the wrong content.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    require_certificate(context, client_ca)
    return lambda _names: context


def require_certificate(context: ssl.SSLContext, client_ca: Path | None) -> None:
    """Require a certificate by this CA (PEM) from clients, if one is given."""
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED


def reason(problem: ssl.SSLError | OSError) -> str:
    """Return the reason for a failed handshake, as text for a person.

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
        explanation = text.partition(" (_ssl.c")[0]
        return explanation.lower() if text.isupper() else explanation
    return problem.strerror or str(problem) or type(problem).__name__


class TlsError(OSError):
    """The error that a TLS handshake failed: with which side, and the reason."""


@contextlib.contextmanager
def handshake(whom: str, context: ssl.SSLContext | None) -> Iterator[None]:
    """Name the side with which a handshake failed, if TLS is used."""
    try:
        yield
    except OSError as problem:
        if context is None:
            raise
        raise TlsError(f"TLS {whom} failed: {reason(problem)}") from None


async def dismiss(client: socket.socket, context: ssl.SSLContext) -> None:
    """Finish the TLS handshake with a client and close, so that the client does not blame TLS.

    Raises:
        OSError: The handshake fails.
    """
    loop = asyncio.get_running_loop()
    closed = loop.create_future()
    transport, _ = await loop.connect_accepted_socket(
        lambda: _Farewell(closed),
        client,
        ssl=context,
        ssl_handshake_timeout=HANDSHAKE,
        ssl_shutdown_timeout=HANDSHAKE,
    )
    try:
        transport.close()
        await closed
    finally:
        transport.abort()


class _Farewell(asyncio.Protocol):
    """A client that is not read from; `gone` is set when its socket is closed."""

    def __init__(self, gone: asyncio.Future[None]) -> None:
        self._gone = gone

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that both sides have closed, or that the client did not in time."""
        if not self._gone.done():
            self._gone.set_result(None)
