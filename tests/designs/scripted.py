"""A broker on loopback that answers each request with what a function of the test returns."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from typing import Self

Reply = Callable[[bytes], bytes | None]
"""A request without its size -> the bytes to send, or None: hang up."""


class ScriptedBroker:
    """Answers connection after connection, from `with` to its end; each in a thread of its own."""

    def __init__(self, reply: Reply) -> None:
        self.requests: list[bytes] = []
        self._reply = reply
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, name="scripted broker")]

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self._listener.getsockname()
        return host, port

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
                self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream, contextlib.suppress(OSError):
            while len(head := stream.read(4)) == 4:
                request = stream.read(struct.unpack(">i", head)[0])
                self.requests.append(request)
                reply = self._reply(request)
                if reply is None:
                    return
                connection.sendall(reply)
