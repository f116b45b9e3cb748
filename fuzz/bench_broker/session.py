"""The sockets of one session: a listener on loopback and the connections of a client.

Many sessions share one selector; no call blocks.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections import deque
from collections.abc import Callable
from typing import Final

from barnabas.fuzz.bench_broker.broker import Broker, Connection, Reply

Handler = Callable[[int], None]
"""A socket's handler, called with the events that are ready."""

LONGEST_WAIT: Final = 0.1
"""Seconds that a Fetch without records waits at most."""
LINGERING: Final = 1.0
"""Seconds after which a client has had its time with a case, even if nothing shows its reaction."""
_BYTEWISE: Final = 2048
"""Bytes that are written one by one; the rest follows at once."""
_READ: Final = 1 << 16
KEPT: Final = 16
"""Requests after the case that are kept; a client that sent as many has had its time with it."""


class _Link:
    """A connection: what is still to be written, and when."""

    def __init__(self, session: Session, sock: socket.socket) -> None:
        self.sock = sock
        self.core = Connection(session.broker)
        self.waiting: deque[tuple[float, Reply]] = deque()
        self.out = bytearray()
        self.ends = False
        self.had_case = False
        self.is_cut = False


class Session:
    """A broker's listener, from its creation to `close`. Times are in seconds of the clock.

    `timeout` seconds after the case and the last byte, each connection that had the case is closed, as by a
    broker that stops: a client may wait for the rest of a frame. The client shows that it is done with the
    case by a further request on that connection, or by closing it. After another `timeout`, the session is
    `over`.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        broker: Broker,
        clock: Callable[[], float],
        timeout: float,
    ) -> None:
        self.broker = broker
        self._selector = selector
        self._timeout = timeout
        self._links: set[_Link] = set()
        self._clock = clock
        self._heard = 0.0
        self.served = False
        self.later: list[tuple[int, int]] = []
        """(API key, version) of the requests after the case."""
        self.left = False
        """Whether the client closed the case's connection and made another."""
        self._closed = False
        self._stirred = True
        """Whether anything happened since the last `tick`."""
        self._due: float | None = None
        self.over = False
        """Whether the client has had the case and time to react: it may be told to end."""
        self._over_at = 0.0
        """When the session will be over, once the case was sent."""
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listening.setblocking(False)
        broker.cluster.host, broker.cluster.port = self._listening.getsockname()
        selector.register(self._listening, selectors.EVENT_READ, self._accept)

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap address."""
        return f"{self.broker.cluster.host}:{self.broker.cluster.port}"

    def close(self) -> None:
        """Close the listener and all connections."""
        for link in list(self._links):
            self._drop(link)
        with contextlib.suppress(KeyError):
            self._selector.unregister(self._listening)
        self._listening.close()

    def tick(self) -> float | None:
        """Write what is due; return the moment of the next call, None if only bytes need one."""
        now, due = self._clock(), []
        if not self._stirred and (self._due is None or now < self._due):
            return self._due
        self._stirred = False
        for link in [candidate for candidate in self._links if not candidate.ends]:
            self._say(link)
            if link.waiting and not link.ends and link in self._links:
                due.append(link.waiting[0][0])
        uncut = [link for link in self._links if link.had_case and not link.is_cut]
        if uncut and now - self._heard >= self._timeout:
            for link in uncut:
                self._cut_off(link)
        elif uncut:
            due.append(self._heard + self._timeout)
        if self.served and not self.over:
            self.over = now >= self._over_at
            due.append(self._over_at)
        self._due = min(due, default=None)
        return self._due

    def _accept(self, events: int) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._listening.accept()
            self.left, self._stirred = self._closed, True
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = _Link(self, sock)
            self._links.add(link)
            self._selector.register(sock, selectors.EVENT_READ, lambda got: self._ready(link, got))

    def _ready(self, link: _Link, events: int) -> None:
        self._stirred = True
        if events & selectors.EVENT_WRITE:
            self._flush(link)
        if events & selectors.EVENT_READ and link in self._links:
            try:
                data = link.sock.recv(_READ)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if link.had_case:
                # the client has read past the case, or reads no more
                self._over_at = min(self._over_at, self._clock() + self._timeout)
            if not data:
                self._closed |= link.had_case and not link.ends and not self.over
                self._drop(link)
                return
            self._heard = self._clock()
            before = self.broker.request_counts.copy() if self.served else None
            for reply in link.core.receive(data):
                due = self._clock() + min(reply.wait_ms / 1e3, LONGEST_WAIT)
                link.waiting.append((due, reply))
            if before is not None and len(self.later) < KEPT:
                self.later += (self.broker.request_counts - before).elements()
                self.over = self.over or len(self.later) >= KEPT
            self._say(link)

    def _say(self, link: _Link) -> None:
        """Write the replies that are due, in order."""
        while link.waiting and link.waiting[0][0] <= self._clock() and not link.ends:
            _, reply = link.waiting.popleft()
            if reply.case:
                self.served = link.had_case = True
                self._heard = self._clock()
                self._over_at = self._heard + LINGERING
            if reply.delivery == "bytewise":
                data = b"".join(reply.chunks)
                for at in range(min(len(data), _BYTEWISE)):
                    self._write(link, data[at : at + 1])
                self._write(link, data[_BYTEWISE:])
            else:
                for chunk in reply.chunks:
                    self._write(link, chunk)
            link.ends = link.ends or reply.closes
        if link.ends and not link.out:
            self._end(link)

    def _write(self, link: _Link, data: bytes) -> None:
        if link.out:
            link.out += data
            return
        try:
            sent = link.sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # the next read reports the error
        if sent < len(data):
            link.out += data[sent:]
            self._watch(link, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def _flush(self, link: _Link) -> None:
        try:
            sent = link.sock.send(link.out)
        except BlockingIOError:
            return
        except OSError:
            self._drop(link)
            return
        del link.out[:sent]
        self._heard = self._clock()
        if not link.out:
            self._watch(link, selectors.EVENT_READ)
            self._say(link)

    def _watch(self, link: _Link, events: int) -> None:
        self._selector.modify(
            link.sock, events, lambda ready_events: self._ready(link, ready_events)
        )

    def _end(self, link: _Link) -> None:
        """End the writes of a connection; after a case that does so, the client may still write."""
        if link.had_case:
            with contextlib.suppress(OSError):
                link.sock.shutdown(socket.SHUT_WR)
        else:
            self._drop(link)

    def _cut_off(self, link: _Link) -> None:
        """Write no more on a connection; the client closes it when it has read everything."""
        link.is_cut = True
        if link.ends or link.out:
            self._drop(link)
        else:
            link.ends = True
            self._end(link)

    def _drop(self, link: _Link) -> None:
        if link in self._links:
            self._links.discard(link)
            self._selector.unregister(link.sock)
            link.sock.close()
