"""Many connections, and what toxiproxy is told: against the bench's own server, without a proxy."""

from __future__ import annotations

import threading
from multiprocessing import Pipe

import pytest

from bench import many, server


@pytest.fixture(scope="module")
def port() -> int:
    ours, theirs = Pipe()
    threading.Thread(target=server.serve, args=(theirs,), daemon=True).start()
    found: int = ours.recv()
    return found


def test_every_connection_gets_its_answers(port: int) -> None:
    result = many.run(port, 20, 0.2)
    assert len(result.latencies) >= 20
    assert result.bytes == 400 * len(result.latencies)
    assert 0.2 <= result.seconds < 10
