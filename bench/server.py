"""The server of the load generator: it tells frames by arithmetic, and answers what has come whole."""

from __future__ import annotations

import contextlib
import queue
import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from bench import many
from bench.load import Load, loads, receive
from bench.opening import openings

CHUNK: Final = 1 << 20
START: Final = 8
"""Bytes of a request that tell what it is, see `Load.kind`."""


class Newcomers(NamedTuple):
    """Connections on their way to the thread that answers many, and a socket that wakes it."""

    waiting: queue.SimpleQueue[socket.socket]
    bell: socket.socket
    heard: socket.socket


Ready = Callable[[socket.socket], socket.socket]
"""Makes a connection that was accepted ready to be read from: by a TLS handshake, for example."""


def serve(pipe: Connection, ready: Ready = lambda sock: sock) -> None:
    """Run the server's process: send its port, then answer requests until it is killed."""
    kinds = {load.kind: load for load in loads().values()}
    newcomers = Newcomers(queue.SimpleQueue(), *socket.socketpair())
    work = (newcomers, loads()[many.LOAD])
    threading.Thread(target=_answer_many, args=work, daemon=True).start()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        pipe.send(listener.getsockname()[1])
        while True:
            sock, _ = listener.accept()
            mine = (sock, ready, kinds, newcomers)
            threading.Thread(target=_answer, args=mine, daemon=True).start()


def _answer(
    accepted: socket.socket, ready: Ready, kinds: dict[bytes, Load], newcomers: Newcomers
) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(OSError))  # perhaps a look whether anybody listens
        stack.callback(accepted.close)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock = stack.enter_context(ready(accepted))
        load = _load_of(sock, kinds)
        if load is loads()[many.LOAD]:
            _finish(sock, load)
            stack.pop_all()
            newcomers.waiting.put(sock)
            newcomers.bell.send(b"!")
            return
        buffer = bytearray(CHUNK)
        answers = memoryview(load.responses)
        size, answer = load.request_size, load.response_size
        received, answered = START, 0
        while taken := sock.recv_into(buffer):
            received += taken
            while answered < received // size:
                at = answered % load.count
                some = min(received // size - answered, load.count - at)
                sock.sendall(answers[at * answer : (at + some) * answer])
                answered += some


def _load_of(sock: socket.socket, kinds: dict[bytes, Load]) -> Load:
    """Return the load of a connection, recognized by the start of its first request.

    Requests that precede the load, such as authentication, are answered first.
    """
    before = {load.kind: load for load in openings().values()}
    start = memoryview(bytearray(START))
    while True:
        receive(sock, start)
        opening = before.get(bytes(start))
        if opening is None:
            return kinds[bytes(start)]
        _finish(sock, opening)


def _finish(sock: socket.socket, load: Load) -> None:
    """Take the rest of a request, and answer it."""
    receive(sock, memoryview(bytearray(load.request_size - START)))
    sock.sendall(load.responses)


def _answer_many(newcomers: Newcomers, load: Load) -> None:
    """Answer complete requests of all connections of `many` in one thread."""
    buffer = bytearray(1 << 16)
    received: dict[socket.socket, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(newcomers.heard, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                sock: socket.socket = key.fileobj  # type: ignore[assignment]
                if sock is newcomers.heard:
                    sock.recv(1)
                    newcomer = newcomers.waiting.get()
                    newcomer.setblocking(False)
                    received[newcomer] = 0
                    selector.register(newcomer, selectors.EVENT_READ)
                    continue
                taken = 0
                with contextlib.suppress(ConnectionError):
                    try:
                        taken = sock.recv_into(buffer)
                    except ssl.SSLWantReadError:  # not all of a record
                        continue
                    whole, received[sock] = divmod(received[sock] + taken, load.request_size)
                    if whole:
                        sock.send(load.responses)
                if not taken:
                    selector.unregister(sock)
                    del received[sock]
                    sock.close()
