"""What is no Kafka: HTTP, TLS, and a protocol of lines."""

from __future__ import annotations

import http.server
import socket
import socketserver
import ssl
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import trustme


@contextmanager
def others() -> Iterator[tuple[tuple[int, int, int], Callable[[], None]]]:
    """The ports of three servers, and what speaks to each of them once."""
    server_side, client_side = _contexts()
    with _serving(_Page) as page, _serving(_Upper, server_side) as tls, _serving(_Upper) as lines:

        def speak() -> None:
            with urllib.request.urlopen(f"http://127.0.0.1:{page}/") as answer:
                answer.read()
            plain = socket.create_connection(("127.0.0.1", tls))
            _say(client_side.wrap_socket(plain, server_hostname="127.0.0.1"))
            _say(socket.create_connection(("127.0.0.1", lines)))

        yield (page, tls, lines), speak


@contextmanager
def _serving(
    handler: type[socketserver.BaseRequestHandler], context: ssl.SSLContext | None = None
) -> Iterator[int]:
    """A server on loopback, with TLS if there is a context; its port."""
    with socketserver.TCPServer(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class _Page(http.server.BaseHTTPRequestHandler):
    server_version, sys_version = "sample", ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page")

    def log_message(self, *said: object) -> None:
        """Nothing."""


class _Upper(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(line.upper())


def _say(connected: socket.socket) -> None:
    with connected:
        connected.sendall(b"a protocol of lines, of which nobody here knows\n")
        connected.recv(100)


def _contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Of a server and its clients."""
    names: dict[str, Any] = {"organization_name": "sample", "organization_unit_name": "sample"}
    authority = trustme.CA(**names)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", **names).configure_cert(server_side)
    client_side = ssl.create_default_context()
    authority.configure_trust(client_side)
    return server_side, client_side
