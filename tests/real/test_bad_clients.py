"""Clients that send garbage, nothing, or too slowly, or never read: each costs only itself."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

import confluent_kafka
import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.proxy.frames import raw, request
from tests.real.process import ProxyProcess
from tests.waiting import SOON, until

pytestmark = pytest.mark.slow("real sockets by the hundred")

MIB: Final = 1 << 20

ROOM: Final = 24 * MIB
"""What a process may grow by and still be as it was: the allocator's slack, sixteen spare buffers of
256 KiB, and tables that keep their size when they empty."""

METADATA: Final = request("Metadata", 7)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(1, topics={"load": 1, "good": 1}) as running:
        yield running


@pytest.fixture(scope="module")
def proxy(cluster: EmbeddedCluster) -> Iterator[ProxyProcess]:
    with ProxyProcess(cluster.bootstrap, "--frame-limit", "8MiB") as running:
        yield running


@pytest.fixture(scope="module")
def at_rest(proxy: ProxyProcess) -> int:
    """Its descriptors without a connection, once it listens for the one broker."""
    before = proxy.sockets
    assert ask(proxy) == 7
    until(lambda: proxy.sockets == before + 1, "one listener more")
    return proxy.descriptors


def connect(proxy: ProxyProcess) -> socket.socket:
    return socket.create_connection(proxy.address, timeout=SOON)


def reset(client: socket.socket) -> None:
    """Close with a reset, as a process that was killed with unread data does."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def receive(client: socket.socket, size: int) -> bytes:
    return client.recv(size, socket.MSG_WAITALL)


def ask(proxy: ProxyProcess) -> int:
    """The correlation id with which a request of a well-behaved client is answered."""
    with connect(proxy) as client:
        client.sendall(METADATA)
        size, correlation_id = struct.unpack(">ii", receive(client, 8))
        assert len(receive(client, size - 4)) == size - 4
        return int(correlation_id)


@contextmanager
def others_served(proxy: ProxyProcess) -> Iterator[None]:
    """A producer that works all the time; each of its records is acknowledged."""
    stop, served = threading.Event(), threading.Event()
    problems: list[str] = []

    def note(error: object, _: object) -> None:
        served.set()
        if error is not None:
            problems.append(str(error))

    def work() -> None:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": proxy.bootstrap, "log_level": 0, "linger.ms": 0}
        )
        sent = 0
        while not stop.wait(0.005):
            producer.produce("good", b"%d" % sent, callback=note)
            sent += 1
            producer.poll(0)
        problems.extend(["not acknowledged"] * producer.flush(SOON))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert served.wait(SOON)
        yield
        served.clear()
        assert served.wait(SOON), "nothing is acknowledged any more"
    finally:
        stop.set()
        worker.join()
    assert problems == []


@contextmanager
def unharmed(proxy: ProxyProcess, at_rest: int) -> Iterator[None]:
    """Others are served meanwhile; afterwards it has the descriptors and memory that it had."""
    until(lambda: proxy.descriptors == at_rest, "at rest before")
    before = proxy.resident
    with others_served(proxy):
        yield
    until(lambda: proxy.descriptors == at_rest, "descriptors are given back")
    assert proxy.resident - before < ROOM
    assert ask(proxy) == 7


def wait_for_descriptors(proxy: ProxyProcess, count: int) -> None:
    until(lambda: proxy.descriptors >= count, "all are connected")


@contextmanager
def connected(proxy: ProxyProcess, at_rest: int, count: int) -> Iterator[list[socket.socket]]:
    """So many clients, each with its connection to the broker.

    In steps: the mock cluster's listener has room for five that it has not accepted yet.
    """
    with ExitStack() as stack:
        clients: list[socket.socket] = []
        while len(clients) < count:
            clients += [stack.enter_context(connect(proxy)) for _ in range(5)]
            wait_for_descriptors(proxy, at_rest + 2 * len(clients))
        yield clients


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


REFUSED: Final = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
    "a TLS hello": bytes.fromhex("1603010200010001fc0303") + noise(1, 512),
    "a negative size": struct.pack(">i", -1) + METADATA,
    "a size over the limit": struct.pack(">i", 8 * MIB + 1) + bytes(100),
    "the largest size": b"\x7f\xff\xff\xff" + bytes(100),
    "noise": b"\xff" + noise(2, MIB),
    "noise behind a request": METADATA + b"\xff" + noise(3, 1000),
    "an API that nobody knows": raw(struct.pack(">hhih", 999, 0, 1, -1)),
    "frames without a header": raw(b"") * 100,
    "a Metadata request of noise": raw(METADATA[4:14] + noise(4, 1000)),
}
"""Sent to the proxy; it or the broker ends the connection."""


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED)
def test_garbage_costs_its_connection_only(proxy: ProxyProcess, at_rest: int, sent: bytes) -> None:
    with unharmed(proxy, at_rest):
        for _ in range(10):
            with connect(proxy) as client, suppress(ConnectionError):
                client.sendall(sent)
                while client.recv(MIB):  # until the other side closes
                    pass


def test_noise_of_every_size_and_a_client_that_goes(proxy: ProxyProcess, at_rest: int) -> None:
    with unharmed(proxy, at_rest):
        for seed in range(300):
            client = connect(proxy)
            data = noise(seed, random.Random(-seed).randrange(1, 3000))
            if seed % 3:  # a size that is believed: what follows is taken for a frame, or its start
                data = struct.pack(">i", random.Random(seed).randrange(2 * len(data))) + data
            with suppress(ConnectionError):
                client.sendall(data)
            (reset if seed % 2 else socket.socket.close)(client)


def test_slow_clients_are_served_and_hold_up_nobody(proxy: ProxyProcess, at_rest: int) -> None:
    """200 clients that send a request byte by byte, in turn."""
    with unharmed(proxy, at_rest), connected(proxy, at_rest, 200) as clients:
        for at in range(len(METADATA)):
            for client in clients:
                client.sendall(METADATA[at : at + 1])
            assert ask(proxy) == 7
        for client in clients:
            assert receive(client, 8)[4:] == METADATA[8:12]


@pytest.mark.parametrize("sent", [b"", METADATA[:2], METADATA[:9], METADATA[:-1]])
def test_clients_that_only_connect_cost_little(
    proxy: ProxyProcess, at_rest: int, sent: bytes
) -> None:
    """500 clients that say nothing more and go away only at the end."""
    with unharmed(proxy, at_rest):
        before = proxy.resident
        with connected(proxy, at_rest, 500) as clients:
            for client in clients:
                client.sendall(sent)
            assert ask(proxy) == 7
            assert proxy.resident - before < len(clients) * 50_000


def test_clients_that_never_read_stop_only_themselves(
    proxy: ProxyProcess, cluster: EmbeddedCluster, at_rest: int
) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for _ in range(4):
        producer.produce("load", bytes(900_000), partition=0)
    assert producer.flush(SOON) == 0
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 4 * MIB}
    topics = [{"topic": "load", "partitions": [partition]}]
    fetch = request(
        "Fetch", 7, version=4, max_wait_ms=10, min_bytes=1, max_bytes=4 * MIB, topics=topics
    )
    with unharmed(proxy, at_rest), connected(proxy, at_rest, 20) as clients:
        before = proxy.resident
        for client in clients:
            client.sendall(fetch * 4)
        for client in clients:  # the first bytes are there: the rest waits behind them
            assert receive(client, 8)[4:] == fetch[8:12]
        assert ask(proxy) == 7
        # 20 times 14 MB are asked for: the proxy has a buffer for each, the rest waits in the kernel
        assert proxy.resident - before < len(clients) * MIB // 2
        for client in clients[::2]:
            reset(client)
        assert receive(clients[1], MIB)


def begin_and_end(proxy: ProxyProcess, end: Callable[[socket.socket], None], sent: bytes) -> None:
    """2,500 connections in batches of 250."""
    for _ in range(10):
        clients = [connect(proxy) for _ in range(250)]
        for client in clients:
            client.sendall(sent)
        for client in clients:
            end(client)


@pytest.fixture(scope="module")
def warm(proxy: ProxyProcess, at_rest: int) -> None:
    """What the allocator keeps of so many connections at a time is no leak: it has it before."""
    with others_served(proxy):
        begin_and_end(proxy, socket.socket.close, b"")
    until(lambda: proxy.descriptors == at_rest, "descriptors are given back")


@pytest.mark.parametrize("sent", [b"", METADATA[:11]], ids=["nothing", "half a frame"])
@pytest.mark.parametrize("end", [socket.socket.close, reset], ids=["close", "reset"])
def test_ten_thousand_connections_leave_nothing(
    proxy: ProxyProcess,
    at_rest: int,
    warm: None,
    end: Callable[[socket.socket], None],
    sent: bytes,
) -> None:
    """Each kind is a quarter of the ten thousand."""
    with unharmed(proxy, at_rest):
        begin_and_end(proxy, end, sent)
