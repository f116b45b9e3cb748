"""Who ends TLS on both sides: the proxies that are compared, and the certificates that all of them have."""

from __future__ import annotations

import functools
import socket
import ssl
from pathlib import Path
from typing import Final

import trustme

from bench.load import connected
from bench.targets import BARNABAS, Kind, ours

CIPHER: Final = "TLS_AES_256_GCM_SHA384"
"""What all of them agree on if nobody asks for another."""

HOSTS: Final = ("localhost", "127.0.0.1")

HAPROXY: Final = """\
global
    nbthread {threads}
defaults
    mode tcp
    timeout connect 10s
    timeout client 60s
    timeout server 60s
listen kafka
    bind 127.0.0.1:{{listen}} ssl crt {{folder}}/server.pem ssl-min-ver TLSv1.3
    default-server ssl ca-file {{folder}}/ca.pem verify required verifyhost localhost no-ssl-reuse
    server broker 127.0.0.1:{{server}}
"""

STUNNEL: Final = """\
foreground = yes
pid =
debug = err
sslVersionMin = TLSv1.3
sessionResume = no
socket = l:TCP_NODELAY=1
socket = r:TCP_NODELAY=1
[clients]
accept = 127.0.0.1:{listen}
connect = 127.0.0.1:{control}
cert = {folder}/server.pem
[brokers]
client = yes
accept = 127.0.0.1:{control}
connect = 127.0.0.1:{server}
CAfile = {folder}/ca.pem
verifyChain = yes
checkHost = localhost
"""
"""Two halves: one is the server, the other the client."""

OURS: Final[dict[str, tuple[str, ...]]] = {
    "": (),
    "2 workers": ("--workers", "2"),
}
"""Options, by what they make of barnabas."""


def kinds(beside: Path | None = None) -> list[Kind]:
    """All; `beside`: the `barnabas` of another installation, to be measured in the same run."""
    commands = {"barnabas": BARNABAS} | ({} if beside is None else {"beside": (str(beside),)})
    tls = ("--client-cert", "{folder}/server.pem", "--broker-ca", "{folder}/ca.pem")
    return [
        Kind("direct"),
        *(
            Kind(
                f"HAProxy, {threads} thread{'s' * (threads > 1)}",
                ("haproxy", "-db", "-f", "{config}"),
                HAPROXY.format(threads=threads),
            )
            for threads in (1, 2)
        ),
        Kind("stunnel, two halves", ("stunnel", "{config}"), STUNNEL),
        *(
            ours(f"{name}: {label}".removesuffix(": "), command, "--log", "off", *tls, *options)
            for label, options in OURS.items()
            for name, command in commands.items()
        ),
    ]


def write_certificates(folder: Path) -> None:
    """Write a CA, and a certificate of it for the server and the proxies."""
    ca = trustme.CA()
    ca.cert_pem.write_to_path(folder / "ca.pem")
    ca.issue_cert(*HOSTS).private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")


def accept(folder: Path, sock: socket.socket) -> ssl.SSLSocket:
    """Accept TLS on the server's end of a connection. Raises OSError."""
    return _server(folder).wrap_socket(sock, server_side=True)


def connect(folder: Path, port: int) -> ssl.SSLSocket:
    """Connect with TLS as the client.

    Raises:
        OSError: the connection fails.
        ValueError: the cipher is not the one agreed for all contestants.
    """
    sock = _client(folder).wrap_socket(connected(port), server_hostname=HOSTS[0])
    name, *_ = sock.cipher() or ("no cipher",)
    if name != CIPHER:
        sock.close()
        raise ValueError(f"{name}, not {CIPHER}")
    return sock


@functools.cache
def _server(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(folder / "server.pem")
    return context


@functools.cache
def _client(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=folder / "ca.pem")
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context
