"""A client on the steered broker: it gets the given responses, and its next request is the output."""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import time
from collections.abc import Callable
from typing import Any, Final, Self

from barnabas.fuzz.bench_broker.broker import Connection, Reply
from barnabas.fuzz.bench_broker.cluster import TOPIC
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.clients.alphabets import ClientAlphabet
from barnabas.fuzz.states.clients.steered_broker import WAITS, SteeredBroker
from barnabas.fuzz.targets.clients.child import Child
from barnabas.peers import processes
from barnabas.peers.clients.client import Client
from barnabas.peers.clients.errors import UnavailableClientError

SILENT: Final = "asks nothing"
"""The output of a client that neither sends a watched request nor ends."""
ENDED: Final = "has ended"
"""The output of each input after the client's end."""

SILENCE: Final = 10.0
"""Seconds without a watched request after which the client is silent; its own timers are far below."""
STARTS: Final = 60.0
"""Seconds until a program is ready, and until a session's first request."""
ENDS: Final = 5.0
"""Seconds that the end of a session may take before its process is ended."""


class ClientConversation:
    """A session of the client for each conversation, as a context manager.

    Raises CannotRun if the client is unavailable, or its program lacks the workload. sent: called for each
    response.
    """

    def __init__(
        self, client: Client, alphabet: ClientAlphabet, sent: Callable[[], None] = lambda: None
    ) -> None:
        self.name = client.name
        self.alphabet = alphabet
        self.requests = 0
        self._client, self._sent = client, sent
        self._number = 0
        self._child: Child | None = None
        self._links: dict[socket.socket, Connection] = {}
        self._later: list[tuple[float, socket.socket, Reply]] = []
        """Delayed replies, and when a broker would send them."""
        self._listening: list[socket.socket] = []
        """The session's listener, if there is a session."""
        self._asking: socket.socket | None = None
        """The connection of the pending request."""
        self._behind: list[Reply] = []
        """Replies to later requests of that connection, which are sent in order."""
        self._said = ""
        self._running = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._program = self._client.prepare()
        except UnavailableClientError as problem:
            raise CannotRun(str(problem)) from None
        with contextlib.ExitStack() as stack:
            self._folder = stack.enter_context(processes.folder())
            self._selector = stack.enter_context(selectors.DefaultSelector())
            stack.callback(self._let_go)
            stack.callback(self._end)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def restart(self) -> None:
        """Begin a session, up to its first watched request."""
        child = self._started()
        self._number += 1
        self._asking, self._said = None, ""
        self._later.clear()
        self._behind.clear()
        listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listening.append(listening)
        listening.setblocking(False)
        host, port = listening.getsockname()
        self._steered = SteeredBroker(self.alphabet, host, port)
        self._selector.register(listening, selectors.EVENT_READ, lambda _: self._accept(listening))
        command = {
            "number": self._number,
            "run": self.alphabet.workload,
            "topic": TOPIC,
            "api": "-",
        }
        child.tell(json.dumps({**command, "bootstrap": f"{host}:{port}"}))
        self._until(self._shown, STARTS)
        if self._steered.pending is None:
            raise CannotRun(
                f"{self.name}: no {self.alphabet.name}: its program {self._said or SILENT}"
            )

    def say(self, name: str) -> str:
        """Answer the pending request with an error's name, and return what the client does next."""
        self.requests += 1
        self._sent()
        if self._steered.pending is None:
            return self._ended()
        self._give(self._steered.answered(name))
        self._until(self._shown, SILENCE)
        return self._ended() if self._steered.pending is None else self._steered.pending_request

    def _ended(self) -> str:
        ending, self._said = self._said, self._said and ENDED
        return ending or SILENT

    def close(self) -> None:
        """Let the client end the session, with valid responses."""
        child = self._child
        assert child is not None  # noqa: S101 (a session is under way)
        if not self._said:
            child.tell(json.dumps({"number": self._number, "over": True}))
            self._steered.free = True
            if self._steered.pending is not None:
                self._give(self._steered.answered("NONE"))
            self._until(lambda: bool(self._look()), ENDS)
            if not self._said:
                self._end()
        self._let_go()

    def _let_go(self) -> None:
        for sock in (*self._links, *self._listening):
            self._drop(sock)
        self._listening.clear()

    def _started(self) -> Child:
        if self._child is None:
            self._child = Child(self._program, self._folder, self._selector)
            self._until(lambda: bool(self._alive.answers) or self._alive.ended, STARTS)
            if not self._child.answers:
                raise CannotRun(f"{self.name} does not start: {self._child.death().last_words}")
            self._child.answers.clear()
        return self._child

    @property
    def _alive(self) -> Child:
        assert self._child is not None  # noqa: S101 (it was started)
        return self._child

    def _shown(self) -> bool:
        return self._steered.pending is not None or bool(self._look())

    def _look(self) -> str:
        """Return how the session ended, once it has."""
        child = self._alive
        answer = next(
            (message for message in child.answers if message.get("number") == self._number), None
        )
        if answer is not None:
            child.answers.clear()
            self._said = _how(answer)
        elif child.ended and not self._said:
            self._said = f"dies: exit code {child.death().exit_code}"
            self._end()
        return self._said

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done() and (remaining := deadline - time.monotonic()) > 0:
            due = min((at for at, _, _ in self._later), default=deadline) - time.monotonic()
            for key, events in self._selector.select(max(min(remaining, due), 0.0)):
                key.data(events)
            now = time.monotonic()
            for delayed in [delayed for delayed in self._later if delayed[0] <= now]:
                self._later.remove(delayed)
                self._write(*delayed[1:])

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock, _ = listening.accept()
            sock.settimeout(
                ENDS
            )  # responses are small, so a client that does not read them is given up
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._links[sock] = Connection(self._steered)
            self._selector.register(sock, selectors.EVENT_READ, lambda _: self._read(sock))

    def _read(self, sock: socket.socket) -> None:
        try:
            data = sock.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self._drop(sock)
            return
        for reply in self._links[sock].receive(data):
            if reply is WAITS:
                self._asking = sock
                continue
            if sock is self._asking:
                self._behind.append(reply)
                continue
            before = max((at for at, other, _ in self._later if other is sock), default=0.0)
            due = time.monotonic() + reply.wait_ms / 1e3 if reply.wait_ms else before
            if due:  # in order
                self._later.append((max(due, before), sock, reply))
            else:
                self._write(sock, reply)

    def _give(self, reply: Reply) -> None:
        sock, self._asking = self._asking, None
        if sock is not None:
            for following in (reply, *self._behind):
                self._write(sock, following)
        self._behind.clear()

    def _write(self, sock: socket.socket, reply: Reply) -> None:
        if sock not in self._links:
            return
        try:
            sock.sendall(b"".join(reply.chunks))
        except OSError:
            self._drop(sock)
            return
        if reply.closes:
            self._drop(sock)

    def _drop(self, sock: socket.socket) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(sock)
        self._links.pop(sock, None)
        sock.close()

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


def _how(answer: dict[str, Any]) -> str:
    """Return how a session ended: with an exception of this class, or without one."""
    raised = answer.get("raised")
    if raised is None:
        return "ends"
    name = raised["class"].rpartition(".")[2]
    failed = answer.get("failed")
    return f"raises {name}" + (f" ({failed[-1]})" if failed else "")
