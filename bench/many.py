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
    """Run the client's process: (port, name of a load, seconds, most bytes) in, a Result out."""
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
    """Keep one request in flight on each of many connections for a number of seconds."""
    frames = loads()[LOAD]
    latencies: list[float] = []
    clock = time.perf_counter
    buffer = memoryview(bytearray(len(frames.responses)))
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        ways = [_Way(sock) for sock in _opened(port, count, stack, connect)]
        for contestant in ways:
            contestant.sock.setblocking(False)
            selector.register(contestant.sock, selectors.EVENT_READ, contestant)
        begun = clock()
        for contestant in ways:
            contestant.sent = clock()
            contestant.sock.send(frames.requests)
        while clock() < begun + seconds:
            ready = selector.select(TIMEOUT)
            if not ready:
                raise TimeoutError(f"none of {count} connections is answered")
            for key, _ in ready:
                contestant = key.data
                try:
                    taken = contestant.sock.recv_into(buffer)
                except ssl.SSLWantReadError:  # it was no data, or not all of a record
                    continue
                if not taken:
                    raise ConnectionError("the connection was closed")
                contestant.received += taken
                if contestant.received == len(frames.responses):
                    now = clock()
                    latencies.append(now - contestant.sent)
                    contestant.received, contestant.sent = 0, now
                    contestant.sock.send(frames.requests)
        ended = clock()
    volume = len(latencies) * (frames.request_size + frames.response_size)
    return Result(ended - begun, volume, latencies)


def hold(pipe: Connection) -> None:
    """Keep connections open in a process of its own.

    The pipe receives (port, count); the process sends None when they are open, and closes them at the next
    message.
    """
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
    """Open connections, each of which has answered one request."""
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
