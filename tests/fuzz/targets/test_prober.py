from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.registry import seeds
from barnabas.fuzz.sessions.session import Request
from barnabas.fuzz.targets.prober import Prober, ResponseTimeout, Unanswered
from barnabas.fuzz.targets.session_recording import record_session
from barnabas.specs.keys import API_VERSIONS, LIST_GROUPS, METADATA
from tests.fuzz.observed import response

Bodies = Mapping[int, Mapping[str, Any]]

BODIES: Final[Bodies] = {
    API_VERSIONS: {"error_code": 0, "api_keys": []},
    METADATA: {"brokers": [], "controller_id": -1, "topics": []},
}
"""What a broker answers to a probe."""


@contextlib.contextmanager
def prober_of(answers: Callable[[socket.socket], None]) -> Iterator[Prober]:
    """A prober of a broker that does so with its listening socket, in a thread."""
    prober = Prober(60.0)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answers, args=(listening,))
        thread.start()
        prober.aim(listening.getsockname())
        yield prober
        thread.join()
    prober.close()


def answered(client: socket.socket, read: int, count: int, bodies: Bodies = BODIES) -> list[int]:
    """Read so many requests, and then answer the first of them; gives their keys."""
    stream = client.makefile("rb")
    requests = [stream.read(int.from_bytes(stream.read(4))) for _ in range(read)]
    for one in requests[:count]:
        key, version, correlation_id = struct.unpack_from(">hhi", one)
        answer = response(key, version, bodies[key], correlation_id)
        client.sendall(len(answer).to_bytes(4) + answer)
    return [int.from_bytes(one[:2]) for one in requests]


def test_what_came_behind_garbage_is_no_answer_to_the_next_request() -> None:
    accepted: list[socket.socket] = []

    def answers(listening: socket.socket) -> None:
        for _ in range(2):
            client, _ = listening.accept()
            accepted.append(client)
            client.recv(1 << 16)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with prober_of(answers) as prober:
        for _ in range(2):
            with pytest.raises(Unanswered, match="a response of 1213486160 bytes"):
                prober.ask(API_VERSIONS, 0, {})
    for client in accepted:
        client.close()


def test_a_probe_asks_all_in_one_go_and_tells_what_is_wrong_with_the_answers_to_more() -> None:
    """A broker that answers nothing before it has been asked everything."""
    asked: list[int] = []

    def answers(listening: socket.socket) -> None:
        client, _ = listening.accept()
        with client:
            bodies = {**BODIES, LIST_GROUPS: {"error_code": 15, "groups": []}}
            asked.extend(answered(client, 3, 3, bodies))

    with prober_of(answers) as prober:
        more = (Request(LIST_GROUPS, 0, {}),)
        probe = prober.probe(more, lambda said: f"error {said[0]['error_code']}")
    assert (probe.answered, probe.problem) == (True, "error 15")
    assert asked == [API_VERSIONS, METADATA, LIST_GROUPS]


@pytest.mark.parametrize("second", [2, 1])
def test_a_connection_that_was_lost_is_told_and_tried_once_more(second: int) -> None:
    """second: requests that the second connection answers of two."""

    def answers(listening: socket.socket) -> None:
        for count in (2, second):
            client, _ = listening.accept()
            with client:
                answered(client, 2, count)

    with prober_of(answers) as prober:
        assert prober.probe().problem == ""
        probe = prober.probe()
    assert probe.answered is (second == 2)
    assert probe.problem.startswith("the connection failed")


@pytest.mark.parametrize(
    ("share", "waited"),
    [
        (None, 5),  # nobody knows
        (0.0, 5),  # it hangs and does nothing
        (0.005, 5),
        (0.1, 30),  # a busy machine lets it work for 3 of 30 seconds
        (0.3, 20),  # by then it has had 5 seconds and more
        (1.0, 5),  # it has had all that it may take
    ],
)
def test_an_answer_is_waited_for_while_the_process_has_had_less_of_a_processor_than_the_limit(
    share: float | None, waited: float
) -> None:
    now = 0.0
    timeout = ResponseTimeout(5.0, lambda: None if share is None else now * share, lambda: now)
    with contextlib.suppress(TimeoutError):
        while now < 100:
            now += timeout.remaining()
    assert now == waited


def test_an_answer_of_a_gigabyte_is_not_waited_for() -> None:
    case = cook(Recipe(next(seed for seed in seeds() if "joined" in seed.origin), (), "joined"), 0)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answers() -> None:
            client, _ = listening.accept()
            with client:
                client.recv(1 << 16)
                client.sendall((1 << 30).to_bytes(4) + bytes(1 << 10))
                with contextlib.suppress(OSError):
                    client.recv(1)  # until it goes

        thread = threading.Thread(target=answers)
        thread.start()
        with pytest.raises(
            CannotRun, match="joined is unavailable: a response of 1073741824 bytes"
        ):
            record_session(listening.getsockname(), {}, case, 1)
        thread.join()
