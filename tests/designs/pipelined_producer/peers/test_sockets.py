"""Connections on loopback: what select finds in each of its two turns."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from barnabas.designs.pipelined_producer.peers.actions import ReadResult, WriteResult
from barnabas.designs.pipelined_producer.peers.sockets import Endpoint, Lookup, Sockets
from tests.waiting import SOON


def has(host: str) -> bool:
    """Whether the machine has this address."""
    try:
        socket.create_server((host, 0), family=_family(host)).close()
    except OSError:
        return False
    return True


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


LOOPBACKS = [host for host in ("127.0.0.1", "::1") if has(host)]


@pytest.fixture(params=LOOPBACKS)
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    with socket.create_server((request.param, 0), family=_family(request.param)) as found:
        yield found


@pytest.fixture
def made() -> Iterator[Callable[[Lookup], Sockets]]:
    all_of_them: list[Sockets] = []

    def make(lookup: Lookup) -> Sockets:
        all_of_them.append(Sockets(lookup))
        return all_of_them[-1]

    yield make
    for one in all_of_them:
        for node in range(5):
            one.close(node)
        one.shut()


def unasked(host: str, port: int) -> list[Endpoint]:
    raise AssertionError(f"{host} is no name")


def connect(sockets: Sockets, *nodes: int) -> None:
    """Select in turns until these are connected, and find nothing else."""
    found: set[int] = set()
    while found != set(nodes):
        assert sockets.readable((), SOON) == ReadResult({}, set())
        takes = sockets.writable(())
        assert takes.writable == set()
        found.update(takes.connected)


def nobody() -> tuple[str, int]:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        host, port = gone.getsockname()
    return host, port


def test_an_address_is_connected_to_written_to_and_read(
    made: Callable[[Lookup], Sockets], listener: socket.socket
) -> None:
    sockets = made(unasked)
    sockets.connect(1, listener.getsockname()[:2])
    connect(sockets, 1)
    there, _ = listener.accept()
    with there:
        sockets.readable({1}, SOON)
        assert sockets.writable({1}) == WriteResult({1}, [])
        assert sockets.writable(()) == WriteResult(set(), [])
        assert sockets.write(1, memoryview(b"question")) == 8
        assert there.recv(100) == b"question"
        there.sendall(b"answer")
        assert sockets.readable((), SOON) == ReadResult({1: b"answer"}, set())
    assert sockets.readable((), SOON).lost == {1}


def test_a_slow_name_holds_up_no_other_and_is_looked_up_once(
    made: Callable[[Lookup], Sockets], listener: socket.socket
) -> None:
    go_on, asked = threading.Event(), list[str]()
    family, address = listener.family, listener.getsockname()

    def lookup(host: str, port: int) -> list[Endpoint]:
        asked.append(host)
        assert host == "quick" or go_on.wait(SOON)
        return [Endpoint(family, address)]

    sockets = made(lookup)
    sockets.connect(1, ("slow", 9))
    sockets.connect(4, ("slow", 9))
    sockets.connect(2, ("quick", 9))
    sockets.connect(3, address[:2])
    connect(sockets, 2, 3)
    go_on.set()
    connect(sockets, 1, 4)
    assert sorted(asked) == ["quick", "slow"]


def test_all_that_a_name_stands_for_is_tried(
    made: Callable[[Lookup], Sockets], listener: socket.socket
) -> None:
    """Such as localhost, if the broker listens on IPv4 only; or a machine without IPv6."""
    stands_for = [
        Endpoint(-1, ("no such family", 9)),
        Endpoint(socket.AF_INET6, ("2001:db8::1", 9, "no scope", 0)),
        Endpoint(socket.AF_INET, nobody()),
        Endpoint(listener.family, listener.getsockname()),
    ]
    sockets = made(lambda host, port: list(stands_for))
    sockets.connect(1, ("name", 9))
    connect(sockets, 1)


def test_a_name_that_stands_for_nothing_is_lost(made: Callable[[Lookup], Sockets]) -> None:
    lookups: tuple[Lookup, ...] = (
        lambda host, port: [],
        lambda host, port: dict[str, list[Endpoint]]()[host],
    )
    for lookup in lookups:  # the second has a fault
        sockets = made(lookup)
        sockets.connect(1, ("name", 9))
        assert sockets.readable((), SOON).lost == {1}


def test_the_next_attempt_goes_on_behind_one_that_was_given_up(
    made: Callable[[Lookup], Sockets], listener: socket.socket
) -> None:
    """An endpoint that swallows all does not stand in the way of the others for ever."""
    names: list[str] = []

    def lookup(host: str, port: int) -> list[Endpoint]:
        names.append(host)
        first = Endpoint(socket.AF_INET, full.getsockname())
        return [first, Endpoint(listener.family, listener.getsockname())]

    sockets = made(lookup)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:  # whoever comes behind these is not answered
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        sockets.connect(1, ("name", 9))
        while not names or 1 not in sockets._connecting:
            assert sockets.readable((), SOON) == ReadResult({}, set())
        assert sockets.writable(()).connected == []
        sockets.close(1)
        sockets.connect(1, ("name", 9))
        connect(sockets, 1)
        for one in waiting:
            one.close()
    assert names == ["name"]
    listener.accept()[0].close()


def test_the_bell_ends_a_select(made: Callable[[Lookup], Sockets]) -> None:
    sockets = made(unasked)
    for _ in range(100_000):  # more than it holds
        sockets.ring()
    assert sockets.readable((), SOON) == ReadResult({}, set())
