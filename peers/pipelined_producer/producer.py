"""The producer as an application has it: a send thread around the event loop, with real sockets."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Self

from peers.leaders import Address
from peers.pipelined_producer.actions import Action, Close, Connect, Ready, Report, Write
from peers.pipelined_producer.batch import PLAIN, Serializers
from peers.pipelined_producer.event import UNDESIGNATED, Event, Outcome
from peers.pipelined_producer.intake import Intake, QueueFull
from peers.pipelined_producer.loop import Loop
from peers.pipelined_producer.partitioning import Partitioner, by_hash
from peers.pipelined_producer.selecting import wake, wants_write
from peers.pipelined_producer.settings import Settings

_CHUNK: Final = 1 << 18
_LONGEST: Final = 3600.0  # seconds that select waits at most
_BELL: Final = -2  # stands for a node: the client's thread rings


class Stopped(RuntimeError):
    """The producer was closed, or its send thread has ended by a fault of its own."""


class PipelinedProducer:
    """Sends messages, asynchronously: `told` hears in the send thread what became of each, once.

    bootstrap: where to ask for metadata first. What `told` raises is kept in `problems`. It may send,
    but not wait (flush, close): RuntimeError.
    """

    def __init__(
        self,
        bootstrap: Iterable[Address],
        settings: Settings | None = None,
        *,
        serializers: Serializers = PLAIN,
        partitioner: Partitioner = by_hash,
    ) -> None:
        self.settings = settings or Settings()
        self.intake = Intake(self.settings, partitioner)
        self.problems: list[Exception] = []
        self._loop = Loop(bootstrap, self.settings, self.intake, serializers)
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[int, socket.socket] = {}
        self._connecting: set[int] = set()
        self._refused: set[int] = set()
        self._ring, self._bell = socket.socketpair()
        self._ring.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, _BELL)
        self._flushing = 0
        self._untold = 0
        """Events that are no longer in the producer's hands, and whose `told` may not have heard it."""
        self._stop = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="send thread", daemon=True)
        self._thread.start()

    def send(
        self,
        topic: str,
        value: Any,
        key: Any = None,
        *,
        partition: int = UNDESIGNATED,
        told: Callable[[Outcome], None] | None = None,
        wait: float = 0.0,
    ) -> None:
        """Take a message, and return at once. Raises QueueFull if there is no room for `wait` seconds.

        Raises Stopped, ValueError for a topic that can't be, and what the partitioner raises.
        """
        event = Event(topic, key, value, time.monotonic(), partition, _milliseconds(), told)
        until = event.enqueued + wait
        with self.intake.changed:
            while True:
                if self._stop or self._failure is not None:
                    raise Stopped("the producer takes no messages any more") from self._failure
                try:
                    self.intake.put(event)
                    break
                except QueueFull:
                    left = until - time.monotonic()
                    if left <= 0:
                        raise
                    self.intake.changed.wait(left)
        self._wake()

    def flush(self, timeout: float | None = None) -> int:
        """Send what waits at once, and wait until all is reported; how much is not, in that time."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("the send thread would wait for itself")
        with self.intake.changed:
            self._flushing += 1
            self._wake()
            self.intake.changed.wait_for(
                lambda: not self._unreported or self._failure is not None, timeout
            )
            self._flushing -= 1
            return self._unreported

    @property
    def _unreported(self) -> int:
        return self.intake.outstanding + self._untold

    def close(self, timeout: float | None = None) -> None:
        """Flush; what is not sent in that time is reported as such. Raises Stopped after a fault."""
        self.flush(timeout)
        with self.intake.changed:
            self._stop = True
            self.intake.changed.notify_all()
        self._wake()
        self._thread.join()
        if self._failure is not None:
            raise Stopped("the send thread has ended") from self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(None if kind is None else 0)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: it rings already; closed: nobody is there
            self._ring.send(b"!")

    def _work(self) -> None:
        try:
            while not self._stop:
                self._turn()
        except BaseException as failure:  # noqa: BLE001 - raised again where it is closed
            self._failure = failure
        finally:
            self._perform(self._loop.give_up())
            with self.intake.changed:
                self.intake.changed.notify_all()
            self._selector.close()
            self._ring.close()
            self._bell.close()

    def _turn(self) -> None:
        ready = self._select()
        self._loop.hurry = self._flushing > 0
        self._perform(self._loop.turn(ready, time.monotonic()))

    def _select(self) -> Ready:
        """Wait until something can be done. A connection that is refused at once is lost in this turn."""
        wanted = wants_write(self._loop)
        for node, connection in self._sockets.items():
            writes = node in wanted or node in self._connecting
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writes else 0)
            if self._selector.get_key(connection).events != events:
                self._selector.modify(connection, events, node)
        due = wake(self._loop)
        timeout = _LONGEST if due is None else max(due - time.monotonic(), 0.0)
        found = self._selector.select(0 if self._refused else min(timeout, _LONGEST))
        lost, self._refused = set(self._refused), set()
        connected: list[int] = []
        arrived: dict[int, bytes] = {}
        writable: list[int] = []
        for key, events in found:
            node = key.data
            if node == _BELL:
                self._bell.recv(4096)
            elif node in self._connecting:
                self._connecting.discard(node)
                if self._sockets[node].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    lost.add(node)
                else:
                    connected.append(node)
            else:
                if events & selectors.EVENT_READ and not self._read(node, arrived):
                    lost.add(node)
                if events & selectors.EVENT_WRITE:
                    writable.append(node)
        return Ready(connected, arrived, lost, writable)

    def _read(self, node: int, arrived: dict[int, bytes]) -> bool:
        """Take what came; whether the connection is still there."""
        try:
            data = self._sockets[node].recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        arrived[node] = data
        return bool(data)

    def _perform(self, actions: Collection[Action]) -> None:
        with self.intake.changed:  # there is room before it is told, for what `told` may send
            self._untold = sum(isinstance(action, Report) for action in actions)
            self.intake.over(self._untold)
        for action in actions:
            match action:
                case Connect(node, address):
                    self._connect(node, address)
                case Write(node, data):
                    self._write(node, data)
                case Close(node):
                    self._close(node)
                case Report(outcome):
                    self._tell(outcome)
        with self.intake.changed:
            self._untold = 0
            self.intake.changed.notify_all()

    def _connect(self, node: int, address: Address) -> None:
        connection = socket.socket()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with contextlib.suppress(BlockingIOError):
                connection.connect(address)
        except (OSError, OverflowError, TypeError, ValueError):  # no such host, or no port
            connection.close()
            self._refused.add(node)
            return
        self._sockets[node] = connection
        self._connecting.add(node)
        self._selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, node)

    def _write(self, node: int, data: memoryview) -> None:
        connection = self._sockets.get(node)
        if connection is None:
            return
        try:
            self._loop.wrote(node, connection.send(data))
        except BlockingIOError:
            pass
        except OSError:
            self._refused.add(node)  # reading says so, too

    def _close(self, node: int) -> None:
        connection = self._sockets.pop(node, None)
        self._connecting.discard(node)
        self._refused.discard(node)
        if connection is not None:
            self._selector.unregister(connection)
            connection.close()

    def _tell(self, outcome: Outcome) -> None:
        if outcome.event.told is None:
            return
        try:
            outcome.event.told(outcome)
        except Exception as problem:  # noqa: BLE001 - an application's fault is not the thread's end
            self.problems.append(problem)


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
