"""A proxy with workers that is steered, and clients that ask when they are told to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from barnabas.control_client import Client
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import run
from tests.barnabas.cli.proxy.test_draining import connect, frame
from tests.proxy.frames import request
from tests.real.process import ProxyProcess

Controlled = tuple[ProxyProcess, Client, list[socket.socket]]


@contextmanager
def controlled(
    cluster: EmbeddedCluster, *options: str | Path, clients: int = 4, rule: str = ""
) -> Iterator[Controlled]:
    """A proxy of two workers with a rule, a client of its control port, and clients of the proxy."""
    with ExitStack() as stack:
        started = (*("--workers", "2", "--control", "127.0.0.1:0"), *map(str, options))
        proxy = stack.enter_context(ProxyProcess(cluster.bootstrap, *started))
        if rule:
            put(proxy.control, rule)
        connected = [stack.enter_context(connect(proxy.ready["listen"])) for _ in range(clients)]
        yield proxy, proxy.control, connected


def put(control: Client, *rules: str) -> None:
    """Replace the scenario by these rules."""
    control.ask("PUT", "/scenario", f"version: 1\nrules: [{', '.join(rules)}]".encode())


def ask(clients: list[socket.socket], number: int = 1, version: int = 3) -> None:
    """Send an ApiVersions request of this number on each connection."""
    for client in clients:
        client.sendall(request("ApiVersions", number, version=version))


def answers(clients: list[socket.socket], number: int = 1) -> list[bytes]:
    """Ask on one connection after the other, and return what is answered."""
    found = []
    for client in clients:
        ask([client], number)
        found.append(frame(client))
    return found


def checked(capture: Path) -> str:
    """What `rehearse --check` says of a capture in which all decisions are the same."""
    found = run("rehearse", capture, "--check")
    assert found.returncode == 0, found.stderr
    return found.stderr
