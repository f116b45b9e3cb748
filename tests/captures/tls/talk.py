"""Make TLS as OpenSSL speaks it, without a network: the bytes that two ends put on the wire."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Iterable
from pathlib import Path

import trustme

from tests.captures.traffic import Said

HOST = "127.0.0.1"

SUITES = (
    (ssl.TLSVersion.TLSv1_3, ""),  # AES-256-GCM: Python can't choose those of TLS 1.3
    (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES128-GCM-SHA256"),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES256-GCM-SHA384"),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-CHACHA20-POLY1305"),
)


@functools.cache
def authority() -> tuple[trustme.CA, trustme.LeafCert]:
    ca = trustme.CA()
    return ca, ca.issue_cert(HOST)


class Ends:
    """A client that logs its keys, and a server; connect as often as you like."""

    def __init__(
        self, keys: Path, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, suite: str = ""
    ) -> None:
        ca, leaf = authority()
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        leaf.configure_cert(self.server)
        ca.configure_trust(self.client)
        self.client.keylog_filename = str(keys)
        self.session: ssl.SSLSession | None = None
        """That of the last connection, to be resumed."""
        self.resumed = False
        self.greeting = 0
        """How much of the last connection's wire is handshake."""
        for context in (self.server, self.client):
            context.minimum_version = context.maximum_version = version
            if suite:
                context.set_ciphers(suite)

    def wire(self, said: Iterable[Said], *, resume: bool = False) -> list[Said]:
        """Return the bytes on the wire of a connection with these messages, one write after the other."""
        to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        from_client, from_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = self.client.wrap_bio(
            to_client, from_client, server_hostname=HOST, session=self.session if resume else None
        )
        server = self.server.wrap_bio(to_server, from_server, server_side=True)
        wire: list[Said] = []

        def carry() -> None:
            while from_client.pending or from_server.pending:
                if data := from_client.read():
                    wire.append(("request", data))
                    to_server.write(data)
                if data := from_server.read():
                    wire.append(("response", data))
                    to_client.write(data)

        def both(act: str) -> bool:
            waiting = False
            for end in (client, server):
                try:
                    getattr(end, act)()
                except ssl.SSLWantReadError:
                    waiting = True
            carry()
            return waiting

        while both("do_handshake"):
            pass
        self.greeting = len(wire)
        for direction, data in said:
            one, other = (client, server) if direction == "request" else (server, client)
            one.write(data)
            carry()
            heard = b""
            while len(heard) < len(data):
                heard += other.read(1 << 16)
        self.session, self.resumed = client.session, bool(client.session_reused)
        both("unwrap")
        return wire
