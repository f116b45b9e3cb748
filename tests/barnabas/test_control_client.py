"""The client of the control port, against servers of all kinds."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from barnabas.control_client import Client, Refused, Unreachable


@contextmanager
def server(answer: bytes, read: int = 1 << 16) -> Iterator[tuple[Client, list[bytes]]]:
    """A server that reads something once, and answers so."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def work() -> None:
            connection, _ = listener.accept()
            with connection:
                asked.append(connection.recv(read))
                connection.sendall(answer)

        thread = threading.Thread(target=work)
        thread.start()
        yield Client(listener.getsockname()[:2], "secret"), asked
        thread.join(10)


def http(status: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}".encode()


def test_a_request_has_the_token_and_the_answer_is_json() -> None:
    with server(http("200 OK", '{"a": 1}')) as (client, asked):
        assert client.ask("POST", "/x", b"body") == {"a": 1}
    assert asked[0].startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert b"Authorization: Bearer secret\r\n" in asked[0]
    assert b"Connection: close\r\n" in asked[0]


@pytest.mark.parametrize(
    ("answer", "problem", "said"),
    [
        (http("422 No", '{"error": "so it is"}'), Refused, "so it is"),
        (http("503 No", '{"error": "so it is"}'), Unreachable, "so it is"),
        (http("404 Nothing", "<html>"), Refused, "answers 404 Nothing"),
        (http("404 Nothing", "[]"), Refused, "answers 404 Nothing"),
        (http("200 OK", "<html>"), Unreachable, "is not a proxy"),
        (http("200 OK", "\xff"), Unreachable, "is not a proxy"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Unreachable, "start it with --control"),
        (b"", Unreachable, "start it with --control"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", Unreachable, "lost the connection"),
    ],
)
def test_whatever_answers_trouble_is_one_line(
    answer: bytes, problem: type[Exception], said: str
) -> None:
    with server(answer) as (client, _), pytest.raises(problem) as caught:
        client.ask("GET", "/status")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def events(*texts: str) -> bytes:
    head = "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return (head + "".join(texts)).encode()


ONE = 'event: exchange\ndata: {"a":"ü: b"}\n\n'


def test_a_stream_is_read_up_to_its_end() -> None:
    lost = 'event: lost\ndata: {"count":2}\n\n'
    with server(events(ONE, ": alive\n\n", lost, "event: end\ndata: {}\n\n", ONE)) as (client, _):
        found: list[Any] = list(client.events("/"))
    assert found == [("exchange", {"a": "ü: b"}), ("lost", {"count": 2})]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ((ONE,), "the proxy has stopped"),
        ((ONE, "event: exchange\ndata: {"), "the stream ended"),
    ],
)
def test_a_stream_without_its_end_broke_off(texts: tuple[str, ...], said: str) -> None:
    with server(events(*texts)) as (client, _):
        found = client.events("/")
        assert next(found)[0] == "exchange"
        with pytest.raises(Unreachable, match=said):
            next(found)


def test_a_refusal_that_comes_before_all_is_sent_is_still_read() -> None:
    with (
        server(http("413 Long", '{"error": "too long"}'), read=10) as (client, _),
        pytest.raises((Refused, Unreachable)),
    ):
        client.ask("PUT", "/scenario", bytes(20_000_000))
