"""Many connections at once, one request under way on each; and many that only stay open."""

from __future__ import annotations

import contextlib
import resource
import selectors
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final

from bench import load
from bench.load import TIMEOUT, Result, loads, receive

LOAD: Final = "many"
"""The load, by its name in `loads`."""

CONNECTIONS: Final = {"64 connections": 64, "1,000 connections": 1000}
IDLE: Final = 1000
"""Connections that are opened to see what each costs."""

_DESCRIPTORS: Final = 4096
"""A proxy needs two for each connection."""


def raise_limit() -> str:
    """Let this process, and those that it starts, have the descriptors; or why it can't be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _DESCRIPTORS:
        return (
            f"many connections: at most {hard} descriptors are allowed, {_DESCRIPTORS} are needed"
        )
    if soft != resource.RLIM_INFINITY and soft < _DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, hard))
    return ""


def drive(pipe: Connection) -> None:
    """The client's process: (port, name of a load, seconds, most bytes) in, a Result out."""
    while job := pipe.recv():
        try:
            port, name, seconds, most = job
            count = CONNECTIONS.get(name)
            pipe.send(run(port, count, seconds) if count else load.run(port, name, seconds, most))
        except (OSError, ValueError) as problem:
            pipe.send(problem)


@dataclass(slots=True)
class _Way:
    """A connection: when its request was sent, and how much of the response has come."""

    sock: socket.socket
    sent: float = 0.0
    received: int = 0


def run(
    port: int,
    count: int,
    seconds: float,
    connect: Callable[[int], socket.socket] = load.connected,
) -> Result:
    """So many connections, a request under way on each, for a while."""
    frames = loads()[LOAD]
    latencies: list[float] = []
    clock = time.perf_counter
    buffer = memoryview(bytearray(len(frames.responses)))
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        ways = [_Way(sock) for sock in _opened(port, count, stack, connect)]
        for way in ways:
            way.sock.setblocking(False)
            selector.register(way.sock, selectors.EVENT_READ, way)
        begun = clock()
        for way in ways:
            way.sent = clock()
            way.sock.send(frames.requests)
        while clock() < begun + seconds:
            ready = selector.select(TIMEOUT)
            if not ready:
                raise TimeoutError(f"none of {count} connections is answered")
            for key, _ in ready:
                way = key.data
                try:
                    taken = way.sock.recv_into(buffer)
                except ssl.SSLWantReadError:  # it was no data, or not all of a record
                    continue
                if not taken:
                    raise ConnectionError("the connection was closed")
                way.received += taken
                if way.received == len(frames.responses):
                    now = clock()
                    latencies.append(now - way.sent)
                    way.received, way.sent = 0, now
                    way.sock.send(frames.requests)
        ended = clock()
    volume = len(latencies) * (frames.request_size + frames.response_size)
    return Result(ended - begun, volume, latencies)


def hold(pipe: Connection) -> None:
    """A process that keeps connections open: (port, how many) in, None out when they are; then it
    waits for anything, and closes them."""
    while job := pipe.recv():
        port, count = job
        with contextlib.ExitStack() as stack:
            try:
                _opened(port, count, stack)
            except OSError as problem:
                pipe.send(problem)
                continue
            pipe.send(None)
            pipe.recv()
        pipe.send(None)


def _opened(
    port: int,
    count: int,
    stack: contextlib.ExitStack,
    connect: Callable[[int], socket.socket] = load.connected,
) -> list[socket.socket]:
    """Connections on each of which one request has been answered."""
    frames = loads()[LOAD]
    buffer = memoryview(bytearray(len(frames.responses)))
    socks = []
    for _ in range(count):
        sock = stack.enter_context(connect(port))
        sock.sendall(frames.requests)
        receive(sock, buffer)
        if buffer != frames.responses:
            raise ValueError("what came back is not what was sent")
        socks.append(sock)
    return socks
