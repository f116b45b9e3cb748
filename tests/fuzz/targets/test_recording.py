"""A session that is recorded at who is no broker."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.registry import seeds
from barnabas.fuzz.targets.recording import recorded


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
        with pytest.raises(CannotRun, match="joined can't be had: a response of 1073741824 bytes"):
            recorded(listening.getsockname(), {}, case, 1)
        thread.join()
