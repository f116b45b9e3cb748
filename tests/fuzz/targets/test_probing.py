from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from barnabas.fuzz.targets.probing import Patience, Prober, Unanswered
from barnabas.specs.keys import API_VERSIONS


def test_what_came_behind_garbage_is_no_answer_to_the_next_request() -> None:
    """Each is answered on a connection of its own."""
    accepted: list[socket.socket] = []

    def answers(listening: socket.socket) -> None:
        for _ in range(2):
            client, _ = listening.accept()
            accepted.append(client)
            client.recv(1 << 16)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    prober = Prober()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answers, args=(listening,))
        thread.start()
        prober.aim(listening.getsockname())
        for _ in range(2):
            with pytest.raises(Unanswered, match="a response of 1213486160 bytes"):
                prober.ask(API_VERSIONS, 0, {})
        thread.join()
    prober.close()
    for client in accepted:
        client.close()


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
    patience = Patience(5.0, lambda: None if share is None else now * share, lambda: now)
    with contextlib.suppress(TimeoutError):
        while now < 100:
            now += patience.left()
    assert now == waited
