"""What a worker asks and waits for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest

from barnabas.proxy.edits.topology import NoPort
from barnabas.proxy.workers.supervisor_requests import request, respond


def no_port() -> None:
    raise NoPort("no port is free")


ANSWERS: dict[str, Any] = {"sum": lambda *numbers: sum(numbers), "listen": no_port}


@contextmanager
def asking() -> Iterator[Connection]:
    """Yield the worker's end, while the supervisor responds."""
    ours, theirs = Pipe()

    def serve() -> None:
        while respond(ours, ANSWERS):
            pass

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        yield theirs
    finally:
        theirs.close()
        serving.join(60)
        ours.close()
    assert not serving.is_alive()


def test_answers_and_what_went_wrong_come_back() -> None:
    with asking() as end:
        assert request(end, "sum", 1, 2) == 3
        with pytest.raises(NoPort, match="no port is free"):
            request(end, "listen")
        assert request(end, "sum") == 0


def test_nobody_answers_any_more() -> None:
    ours, theirs = Pipe()
    ours.close()
    with pytest.raises(OSError, match=r"pipe|reset"):
        request(theirs, "sum")
    theirs.close()


def test_who_does_not_answer_is_not_waited_for_for_ever() -> None:
    ours, theirs = Pipe()
    with pytest.raises(TimeoutError):
        request(theirs, "sum", patience=0.01)
    ours.close()
    theirs.close()
