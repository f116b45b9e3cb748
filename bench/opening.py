"""What a connection says before its load, and how many connections are opened in a second."""

from __future__ import annotations

import functools
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bench.load import Load, Result, frame, receive
from bench.messages import Values

Connect = Callable[[int], socket.socket]
"""To a port; the socket is as ready as it must be for a load."""

AT_ONCE: Final = 8
"""Connections that are being opened at any time."""

_KEPT: Final = ((0, 3, 9), (1, 4, 15), (18, 0, 3))
"""Key, least and newest version: all of them offered by any proxy, so none changes the response."""

_OPENINGS: Final[dict[str, tuple[int, int, Values, Values]]] = {
    "ApiVersions": (
        18,
        3,
        {"client_software_name": "bench", "client_software_version": "1"},
        {
            "api_keys": [
                {"api_key": key, "min_version": least, "max_version": newest}
                for key, least, newest in _KEPT
            ]
        },
    ),
    "SaslHandshake": (17, 1, {"mechanism": "PLAIN"}, {"mechanisms": ["PLAIN"]}),
    "SaslAuthenticate": (36, 2, {"auth_bytes": b"\0bench\0secret"}, {}),
}

SASL: Final = ("SaslHandshake", "SaslAuthenticate")


@functools.cache
def openings() -> dict[str, Load]:
    """One request and its response, by the API's name."""
    return {
        name: Load(
            frame("request", key, version, 0, request),
            frame("response", key, version, 0, answered),
            1,
        )
        for name, (key, version, request, answered) in _OPENINGS.items()
    }


def say(sock: socket.socket, names: tuple[str, ...]) -> None:
    """Send these requests, each when the one before is answered. Raises ValueError, OSError."""
    for name in names:
        load = openings()[name]
        buffer = memoryview(bytearray(len(load.responses)))
        sock.sendall(load.requests)
        receive(sock, buffer)
        if buffer != load.responses:
            raise ValueError(f"{name}: what came back is not what was sent")


def authenticated(connect: Connect) -> Connect:
    """Return a function that connects and authenticates with SASL/PLAIN."""

    def connected(port: int) -> socket.socket:
        sock = connect(port)
        say(sock, SASL)
        return sock

    return connected


def run(port: int, seconds: float, connect: Connect) -> Result:
    """Open connections, ask each for its versions and close it; the result's bytes are connections."""
    begun = time.perf_counter()
    until = begun + seconds

    def over_and_over() -> int:
        count = 0
        while time.perf_counter() < until:
            with connect(port) as sock:
                say(sock, ("ApiVersions",))
            count += 1
        return count

    with ThreadPoolExecutor(AT_ONCE) as threads:
        opened = [threads.submit(over_and_over) for _ in range(AT_ONCE)]
        total = sum(each.result() for each in opened)
    return Result(time.perf_counter() - begun, total, [])
