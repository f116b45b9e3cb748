from __future__ import annotations

import socket
import threading

import pytest

from barnabas.fuzz.targets.probing import Prober, Unanswered
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
