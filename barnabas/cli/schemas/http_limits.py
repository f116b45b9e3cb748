"""A URL opener with a total timeout; urllib's timeout holds for each read."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import OpenerDirector, Request

Cut = Callable[[socket.socket], None]
"""Schedules the shutdown of a socket."""


@contextlib.contextmanager
def opening(seconds: float) -> Iterator[OpenerDirector]:
    """Yield a URL opener whose connections are shut down after `seconds`, whatever they have received."""
    end, timers = time.monotonic() + seconds, list[threading.Timer]()

    def cut(sock: socket.socket) -> None:
        timer = threading.Timer(end - time.monotonic(), _shut, [sock])
        timer.daemon = True
        timer.start()
        timers.append(timer)

    try:
        yield urllib.request.build_opener(_Http(cut), _Https(cut))
    finally:
        for timer in timers:
            timer.cancel()


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        # the shutdown of an SSLSocket would wait for the reader
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, cut: Cut) -> None:
        super().__init__()
        self._cut = cut

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Connection, self._cut), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, cut: Cut) -> None:
        super().__init__()
        self._cut = cut

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_TlsConnection, self._cut), req)


class _Connection(HTTPConnection):
    def __init__(self, cut: Cut, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._cut = cut

    def connect(self) -> None:
        super().connect()
        self._cut(self.sock)


class _TlsConnection(HTTPSConnection):
    def __init__(self, cut: Cut, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._cut = cut

    def connect(self) -> None:
        super().connect()  # the timeout bounds the whole handshake
        self._cut(self.sock)
