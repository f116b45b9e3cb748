"""The growth of a client's process."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from barnabas.experiments.clients.growth import MIB, Sample, growth, sample


def samples(memory: Callable[[int], int], sockets: Callable[[int], int]) -> list[Sample]:
    """A run of 100 s."""
    return [Sample(at, memory(at) * MIB, sockets(at)) for at in range(100)]


def test_a_process_that_warms_up_and_stays_does_not_grow() -> None:
    assert growth(samples(lambda at: min(50 + 10 * at, 150), lambda at: min(at, 4))) == []


def test_memory_that_grows_all_the_time_is_a_finding() -> None:
    (finding,) = growth(samples(lambda at: 50 + 2 * at, lambda _: 4))
    assert (finding.kind, finding.text) == ("grows", "its memory grew from 109 to 229 MiB")


def test_connections_that_are_never_closed_are_a_finding() -> None:
    (finding,) = growth(samples(lambda _: 50, lambda at: at // 10))
    assert finding.text == "its connections grew from 2 to 8"


def test_a_process_that_ended_at_once_has_no_findings() -> None:
    assert growth([]) == []
    assert growth([Sample(0, MIB, 1)]) == []


def test_the_sockets_and_the_memory_of_a_process_are_measured() -> None:
    before = sample(os.getpid(), 0)
    with socket.socket():
        after = sample(os.getpid(), 1)
    assert before is not None
    assert after is not None
    assert after.sockets == before.sockets + 1
    assert after.memory > MIB


def test_a_process_that_is_gone_has_no_sample() -> None:
    assert sample(2**22 + 1, 0) is None  # above the greatest process id
