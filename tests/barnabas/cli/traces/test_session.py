"""Collectors that answer otherwise than they should."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from barnabas.cli.traces.session import session


@contextlib.contextmanager
def answering(head: bytes, rest: bytes) -> Iterator[str]:
    """A server that answers one request, with the rest of it as often as anybody takes it; its URL."""

    def serve() -> None:
        with server.accept()[0] as sock, contextlib.suppress(OSError):
            sock.recv(1 << 16)
            sock.sendall(b"HTTP/1.1 " + head + b"\r\n\r\n")
            while rest:
                sock.sendall(rest)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "head", [b"200 OK", b"200 OK\r\nContent-Length: 999999999999", b"500 No\r\nContent-Length: -1"]
)
def test_an_answer_without_end_is_not_read(head: bytes) -> None:
    with answering(head, bytes(1 << 16)) as url:
        answer = session().post(url, b"", timeout=5)
        assert (answer.status_code, answer.content) == (int(head[:3]), b"")


@pytest.mark.parametrize("code", [301, 302, 304, 307])
def test_a_redirection_is_a_refusal(code: int) -> None:
    head = b"%d Elsewhere\r\nLocation: /there\r\nContent-Length: 0" % code
    with answering(head, b"") as url:
        assert not session().post(url, b"", timeout=5).ok
