"""Brokers that can't be reached, or accept and say nothing; and a proxy that is to stop meanwhile."""

from __future__ import annotations

import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress

import pytest

from bench import machine
from tests.proxy.frames import raw, request
from tests.real.process import ProxyProcess
from tests.waiting import SOON, until

pytestmark = pytest.mark.slow("waits for what never answers")

METADATA = request("Metadata", 7)

UNKNOWN = raw(struct.pack(">hhih", 999, 0, 7, -1))
"""A request whose answer passes as it comes."""

FLOOD = 16 << 20
"""Bytes of an answer: more than the kernel keeps for a connection."""

Broker = Callable[[], AbstractContextManager[str]]

FLUSH = 1.0
"""Seconds beyond `--drain` that sockets get to send what was written (proxy.network.drain.FLUSH)."""

SLACK = 2.0
"""Seconds for a process to end, on a busy machine."""


@contextmanager
def silent() -> Iterator[str]:
    """A broker whose kernel accepts, and that never answers: stopped, as far as one can see."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def vanished() -> Iterator[str]:
    """An address where nobody answers a connection: its listener is full, so the kernel is silent."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as stack:
        for _ in range(2):
            filling = stack.enter_context(socket.socket())
            filling.setblocking(False)
            filling.connect_ex(server.getsockname())
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_broker_that_refuses_closes_its_client_at_once() -> None:
    with ProxyProcess("127.0.0.1:1", "--connect-timeout", "60s") as proxy:
        with socket.create_connection(proxy.address, timeout=SOON) as client:
            assert client.recv(1) == b""
        proxy.until_said("can't be reached: Connection refused; closed")


def test_a_broker_that_has_vanished_closes_its_client_after_the_connect_timeout() -> None:
    with vanished() as address, ProxyProcess(address, "--connect-timeout", "300ms") as proxy:
        before = proxy.descriptors
        begun = time.monotonic()
        with socket.create_connection(proxy.address, timeout=SOON) as client:
            client.sendall(METADATA)
            with suppress(ConnectionResetError):  # what was sent is not read any more
                assert client.recv(1) == b""
        assert time.monotonic() - begun >= 0.3
        proxy.until_said("can't be reached: no answer in 0.3 s")
        until(lambda: proxy.descriptors <= before + 1, "descriptors are given back")


@contextmanager
def flooding() -> Iterator[str]:
    """A broker that answers with more than a client takes that does not read."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server, ExitStack() as stack:

        def serve() -> None:
            with suppress(OSError):  # the server is closed
                while True:
                    client = stack.enter_context(server.accept()[0])
                    client.settimeout(SOON)
                    client.recv(1)  # an answer to what was not asked would cost the connection
                    client.setblocking(False)
                    client.send(struct.pack(">ii", FLOOD, 7) + bytes(FLOOD))

        worker = threading.Thread(target=serve)
        worker.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        worker.join()


@pytest.mark.parametrize("broker", [silent, vanished, flooding])
def test_it_stops_in_time_whatever_brokers_and_clients_do(broker: Broker) -> None:
    """Requests wait for answers that never come, for brokers, or answers for clients that read."""
    with (
        broker() as address,
        ProxyProcess(address, "--drain", "500ms") as proxy,
        ExitStack() as stack,
    ):
        for number in range(20):
            client = stack.enter_context(socket.create_connection(proxy.address, timeout=SOON))
            client.sendall(UNKNOWN * (1 + 1000 * (number % 2)))
        until(lambda: proxy.sockets >= 2 * 20, "all are connected")
        begun = time.monotonic()
        proxy.terminate()
        assert proxy.wait() == 0
        assert time.monotonic() - begun < 0.5 + FLUSH + SLACK


def test_it_goes_on_after_its_descriptors_had_run_out() -> None:
    with silent() as address, ProxyProcess(address) as proxy:
        socket.create_connection(proxy.address, timeout=SOON).close()
        until(lambda: proxy.sockets >= 3, "the loop has all that it needs")
        limit = proxy.descriptors + 20
        resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (limit, limit))
        with ExitStack() as stack:
            for _ in range(60):
                stack.enter_context(socket.create_connection(proxy.address, timeout=SOON))
            proxy.until_said("Too many open files")
            before = machine.cpu_seconds(proxy.pid)
            time.sleep(1)
            after = machine.cpu_seconds(proxy.pid)
            assert before is not None
            assert after is not None
            assert after - before < 0.3  # it does not spin
        until(lambda: proxy.descriptors < limit - 15, "descriptors are given back")
        until(lambda: _connects_through(proxy), "a client is connected through")


def _connects_through(proxy: ProxyProcess) -> bool:
    """One that comes while those who had waited are turned away may be turned away with them."""
    with socket.create_connection(proxy.address, timeout=1) as client:
        try:
            client.recv(1)
        except TimeoutError:
            return proxy.sockets >= 5
        except ConnectionResetError:
            pass
    return False
