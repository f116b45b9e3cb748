"""The loads, of Kafka frames, and one connection under them; the client is a process of its own.

All frames of a load have one size, and the correlation ids go round, so the server finds the frames
by arithmetic and both sides send the same bytes over and over: the kernel does nearly all the work,
and Python is no bottleneck.
"""

from __future__ import annotations

import functools
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from barnabas.specs.frames import Direction, Frame, encode_frame
from bench import messages
from bench.messages import Values

KIB: Final = 1 << 10
MIB: Final = 1 << 20
TIMEOUT: Final = 20.0

PLAIN: Final = 6
DELAYED: Final = 7
THROTTLED: Final = 5
"""Versions of Produce by which rules tell the loads of `bench.accuracy`."""


@dataclass(frozen=True, slots=True)
class Load:
    """A round of requests, back to back, and the round of responses to them."""

    requests: bytes
    responses: bytes
    count: int
    """How many of either."""

    @property
    def request_size(self) -> int:
        """Bytes of a request with its size field."""
        return len(self.requests) // self.count

    @property
    def response_size(self) -> int:
        """Bytes of a response with its size field."""
        return len(self.responses) // self.count

    @property
    def kind(self) -> bytes:
        """The size, key and version with which each of its requests begins."""
        return self.requests[:8]


def frame(direction: Direction, key: int, version: int, correlation_id: int, body: Values) -> bytes:
    """Build a frame with its size and a valid header."""
    header: Values = {"correlation_id": correlation_id}
    if direction == "request":
        header |= {"request_api_key": key, "request_api_version": version, "client_id": "bench"}
    return encode_frame(Frame(direction, key, version, header, body))


def sized(size: int, make: Callable[[int], bytes]) -> int:
    """Return the filling with which a frame has the given size, including its size field."""
    filling = max(size - len(make(0)), 0)
    while filling and len(make(filling)) > size:  # a longer length may take another byte
        filling -= 1
    if len(make(filling)) != size:
        raise ValueError(f"no frame of {size} bytes")
    return filling


def produces(version: int, request: int, response: int, count: int) -> Load:
    """Produce requests and responses of these sizes."""
    records = sized(request, lambda n: frame("request", 0, version, 0, messages.produce(n)))
    name = sized(response, lambda n: frame("response", 0, version, 0, messages.produced("t" * n)))
    asked, answered = messages.produce(records), messages.produced("t" * name)
    return Load(
        b"".join(frame("request", 0, version, i, asked) for i in range(count)),
        b"".join(frame("response", 0, version, i, answered) for i in range(count)),
        count,
    )


def timed(version: int, request: int, count: int = 1) -> Load:
    """Produce requests of this size, small ones without records, and short responses."""
    body = _named if request < KIB else messages.produce
    filling = sized(request, lambda n: frame("request", 0, version, 0, body(n)))
    return Load(
        b"".join(frame("request", 0, version, i, body(filling)) for i in range(count)),
        b"".join(frame("response", 0, version, i, {"responses": []}) for i in range(count)),
        count,
    )


def _named(length: int) -> Values:
    return {"transactional_id": "t" * length, "acks": 1, "timeout_ms": 1, "topic_data": []}


def fetches(version: int, response: int, count: int) -> Load:
    """Fetch requests whose responses have this size."""
    records = sized(
        response,
        lambda n: frame("response", 1, version, 0, messages.fetched(1, n)),
    )
    answered = messages.fetched(1, records)
    request = messages.fetch()
    return Load(
        b"".join(frame("request", 1, version, i, request) for i in range(count)),
        b"".join(frame("response", 1, version, i, answered) for i in range(count)),
        count,
    )


@functools.cache
def loads() -> dict[str, Load]:
    """All loads by name; `count` is half of what is under way."""
    return {
        "produce 1 MiB": produces(9, MIB, 64, 4),
        "produce 16 KiB": produces(9, 16 * KIB, 64, 32),
        "fetch v15 1 MiB": fetches(15, MIB, 4),
        "fetch v16 1 MiB": fetches(16, MIB, 4),
        "ping-pong": produces(8, 200, 200, 1),
        "many": produces(9, 200, 200, 1),
        "plain 64 B": timed(PLAIN, 64),
        "plain 1 MiB": timed(PLAIN, MIB),
        "delayed 64 B": timed(DELAYED, 64),
        "delayed 1 MiB": timed(DELAYED, MIB),
        "throttled 16 KiB": timed(THROTTLED, 16 * KIB, 32),
    }


@dataclass(frozen=True, slots=True)
class Result:
    """Measurements of a client on one connection."""

    seconds: float
    bytes: int
    latencies: list[float]
    """Of each round trip, in seconds; empty for loads with several requests in flight."""


def connected(port: int) -> socket.socket:
    """Connect to a local port. Raises OSError."""
    sock = socket.create_connection(("127.0.0.1", port), TIMEOUT)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def run(
    port: int,
    name: str,
    seconds: float,
    most: int,
    connect: Callable[[int], socket.socket] = connected,
) -> Result:
    """One connection under a load, until the time is over or the bytes are sent."""
    load = loads()[name]
    with connect(port) as sock:
        sock.settimeout(
            None
        )  # no poll() before each call; who started this process waits no longer
        buffer = memoryview(bytearray(len(load.responses)))
        for _ in range(3):  # warm up; the answers must be the ones that were sent
            sock.sendall(load.requests)
            receive(sock, buffer)
            if buffer != load.responses:
                raise ValueError(f"{name}: what came back is not what was sent")
        through = _ping_pong if load.count == 1 else _bulk
        return through(sock, load, buffer, seconds, most)


def _bulk(sock: socket.socket, load: Load, buffer: memoryview, seconds: float, most: int) -> Result:
    """Two rounds of requests in flight at any time."""
    volume = max(len(load.requests), len(load.responses))
    begun = time.perf_counter()
    until = begun + seconds
    rounds = 1
    sock.sendall(load.requests)
    while time.perf_counter() < until and rounds * volume < most:
        sock.sendall(load.requests)
        receive(sock, buffer)
        rounds += 1
    receive(sock, buffer)
    return Result(time.perf_counter() - begun, rounds * volume, [])


def _ping_pong(
    sock: socket.socket, load: Load, buffer: memoryview, seconds: float, most: int
) -> Result:
    latencies: list[float] = []
    begun = now = time.perf_counter()
    while now < begun + seconds:
        sock.sendall(load.requests)
        receive(sock, buffer)
        latencies.append(-now + (now := time.perf_counter()))
    volume = len(latencies) * (load.request_size + load.response_size)
    return Result(now - begun, volume, latencies)


def receive(sock: socket.socket, buffer: memoryview) -> None:
    at = 0
    while at < len(buffer):
        taken = sock.recv_into(buffer[at:])
        if not taken:
            raise ConnectionError("the connection was closed")
        at += taken
