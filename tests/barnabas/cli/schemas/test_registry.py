"""A registry over HTTP: a server of the test's own that gives recorded answers."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest

from barnabas.captures.values.schema import Schema
from barnabas.captures.values.value import Values
from barnabas.cli.schemas import http_limits, registry
from barnabas.cli.schemas.registry import Registry
from tests.captures.values import golden_values as golden


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: Counter[str] = Counter()
        self.authorization: set[str | None] = set()
        self.answer = threading.Event()
        self.answer.set()
        self.code = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        self.server.authorization.add(self.headers["Authorization"])
        self.server.answer.wait(30)
        found = golden.ANSWERS.get(self.path)
        code = self.server.code if found is not None else 404
        data = json.dumps(found or {"error_code": 40403}).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


@contextmanager
def serving() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.answer.set()
        made.shutdown()
        thread.join()
        made.server_close()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def idle(one: Registry) -> None:
    """Wait until its thread is over."""
    for thread in threading.enumerate():
        if thread.name == "schemas":
            thread.join(30)
    assert not one._running


@pytest.mark.parametrize("name", golden.READ)
def test_a_schema_is_fetched_with_what_it_refers_to_and_once(name: str, server: Server) -> None:
    data, headers = golden.VALUES[name]
    values = Values(Registry(server.url + "/", wait=True))
    for _ in range(2):
        found = values.read(data, headers)
        assert (found.kind, found.value) == golden.READ[name]
    assert set(server.asked.values()) == {1}


def test_who_does_not_wait_has_it_the_next_time(server: Server) -> None:
    server.answer.clear()
    one = Registry(server.url, wait=False)
    assert [one(2), one(2)] == ["not fetched yet", "not fetched yet"]
    server.answer.set()
    idle(one)
    assert isinstance(one(2), Schema)
    assert server.asked["/schemas/ids/2"] == 1


@pytest.mark.parametrize(
    ("code", "numbers", "said"),
    [
        (200, (99, 99), "the registry has no schema with this id"),
        (503, (2, 3), "the registry is unavailable: HTTP 503"),
    ],
)
def test_what_is_not_to_be_had_is_asked_for_again_after_some_seconds(
    server: Server, code: int, numbers: tuple[int, int], said: str
) -> None:
    clock = Clock()
    one = Registry(server.url, wait=True, clock=clock)
    server.code = code
    assert {one(number) for number in numbers} == {said}
    assert server.asked.total() == 1
    server.code, clock.now = 200, registry.AGAIN
    assert isinstance(one(numbers[0]), Schema) == (numbers[0] == 2)
    assert server.asked[f"/schemas/ids/{numbers[0]}"] == 2


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_is_forked_while_another_thread_has_the_lock_asks_by_itself(
    server: Server,
) -> None:
    one = Registry(server.url, wait=False)
    with one._lock:
        child = os.fork()
        if not child:
            found = one(2)
            idle(one)
            os._exit(0 if found == "not fetched yet" and isinstance(one(2), Schema) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert server.asked["/schemas/ids/2"] == 1


def test_schemas_and_ids_that_are_not_known_are_bounded(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "KEPT", 2)
    one = Registry(server.url, wait=True)
    for number in (1, 2, 3, 97, 98, 99):
        one(number)
    assert (list(one._schemas), list(one._missing)) == ([2, 3], [98, 99])


def test_name_and_password_of_the_url_are_sent_and_not_shown(server: Server) -> None:
    url = server.url.replace("http://", "http://me:s%40cret@")
    assert isinstance(Registry(url, wait=True)(1), Schema)
    assert server.authorization == {"Basic bWU6c0BjcmV0"}


def test_a_guid_has_a_path_of_its_own(server: Server) -> None:
    assert Registry(server.url, wait=True)(UUID(int=1)) == "the registry has no schema with this id"
    assert list(server.asked) == [f"/schemas/guids/{UUID(int=1)}"]


@pytest.mark.parametrize(
    ("begin", "again"),
    [
        (b"HTTP/1.1 200 OK\r\nX-A: ", b"b"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{", b" "),
    ],
)
@pytest.mark.parametrize("reset", [False, True])
def test_an_answer_that_comes_byte_by_byte_is_cut_off(
    begin: bytes, again: bytes, reset: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `reset`, the connection is reset when the time is up, before the client sees it end."""
    monkeypatch.setattr(registry, "TIMEOUT", 0.2)
    over = threading.Event()
    if reset:
        monkeypatch.setattr(http_limits, "_shut", lambda _: over.set())

    def drip(server: socket.socket) -> None:
        with server.accept()[0] as sock, contextlib.suppress(OSError):
            sock.sendall(begin)
            while not over.wait(0.02):
                sock.sendall(again)
        # the request is unread: to close the connection is to reset it

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,), daemon=True)
        thread.start()
        port = server.getsockname()[1]
        answer = Registry(f"http://127.0.0.1:{port}", wait=True)(1)
        assert answer == "the registry is unavailable: no answer within 3 s"
        thread.join(10)
        assert not thread.is_alive()
