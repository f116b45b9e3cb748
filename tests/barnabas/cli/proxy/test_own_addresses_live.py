"""Brokers that advertise the proxy, with its connections in one process and in several."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from barnabas.specs import api
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.barnabas.cli.test_app import started
from tests.ports import free_ports
from tests.proxy.frames import request, response

pytestmark = pytest.mark.slow("a proxy in a process of its own")

WORKERS = pytest.mark.parametrize("workers", ["1", "2"])
HOST = "127.0.0.1"


@contextmanager
def telling(ports: dict[int, int]) -> Iterator[str]:
    """A broker that says that these are the brokers' ports, whatever it is asked."""
    nodes = [{"node_id": node, "host": HOST, "port": port} for node, port in ports.items()]

    def answer(client: socket.socket) -> None:
        with client:
            while asked := frame(client):
                number = int.from_bytes(asked[4:8])
                client.sendall(response("Metadata", number, brokers=nodes))

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:  # it is closed
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    with socket.create_server((HOST, 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield f"{HOST}:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def told(address: str) -> dict[int, int]:
    with connect(address) as client:
        client.sendall(request("Metadata", 1))
        found = api("Metadata").response.codec(1).decode(frame(client)[4:])
    return {each["node_id"]: each["port"] for each in found["brokers"]}


def descriptors(pid: int) -> int:
    """Those of a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(len(os.listdir(f"/proc/{each}/fd")) for each in (pid, *children))


@WORKERS
def test_who_comes_to_a_broker_that_advertises_a_listener_is_turned_away(workers: str) -> None:
    ports = free_ports(6)
    range_ = f"{ports[0]}-{ports[-1]}"
    options = ("--listen", f"{HOST}:0", "--broker-ports", range_, "--workers", workers)
    with (
        telling({1: ports[2], 2: ports[1]}) as bootstrap,
        started("proxy", "-b", bootstrap, *options) as (process, ready),
    ):
        for _ in range(2):
            assert told(ready["listen"]) == {1: ports[1], 2: ports[5]}
        before = descriptors(ready["pid"])
        for node in (1, 2, 2, 2, 2):
            with connect(f"{HOST}:{told(ready['listen'])[node]}") as client:
                assert client.recv(1) == b""
        assert descriptors(ready["pid"]) <= before + 2 * int(workers)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.count("a listener of this proxy") == 1
    assert "12 connections, 5 closed because the broker could not be reached" in errors


@WORKERS
def test_a_broker_that_advertises_the_first_listener_is_reached_there(workers: str) -> None:
    (port,) = free_ports(1)
    options = ("--listen", f"{HOST}:{port}", "--workers", workers)
    with (
        telling({1: port, 2: port}) as bootstrap,
        started("proxy", "-b", bootstrap, *options) as (_, ready),
    ):
        assert told(ready["listen"]) == {1: port, 2: port}
        assert told(f"{HOST}:{port}") == {1: port, 2: port}
