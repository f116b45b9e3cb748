"""The producer as an application has it: a send thread around the event loop, with real sockets."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, Self

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers.actions import (
    Action,
    Close,
    Connect,
    Report,
    Select,
    Write,
)
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event, Outcome
from barnabas.designs.pipelined_producer.peers.intake import Intake, QueueFull
from barnabas.designs.pipelined_producer.peers.loop import Loop
from barnabas.designs.pipelined_producer.peers.partitioning import Partitioner, by_hash
from barnabas.designs.pipelined_producer.peers.resolver import Lookup, look_up
from barnabas.designs.pipelined_producer.peers.selecting import wake, wants_write
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN, Serializers
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.pipelined_producer.peers.sockets import Sockets
from barnabas.designs.pipelined_producer.peers.steps import STEPS


class Stopped(RuntimeError):
    """The producer was closed, or its send thread has ended by a fault of its own."""


class PipelinedProducer:
    """Sends messages, asynchronously: `told` hears in the send thread what became of each, once.

    bootstrap: where to ask for metadata first. lookup: what a host's name stands for. What `told` raises
    is kept in `problems`. It may send, but not wait (flush, close): RuntimeError.
    """

    def __init__(
        self,
        bootstrap: Iterable[Address],
        settings: Settings | None = None,
        *,
        serializers: Serializers = PLAIN,
        partitioner: Partitioner = by_hash,
        lookup: Lookup = look_up,
    ) -> None:
        self.settings = settings or Settings()
        self.intake = Intake(self.settings, partitioner, serializers)
        self.problems: list[Exception] = []
        self._serializers = serializers
        self._loop = Loop(bootstrap, self.settings, self.intake, serializers)
        self._sockets = Sockets(lookup)
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

        Raises Stopped, TooLarge, ValueError for a topic or a partition that can't be, and what the
        partitioner raises; where this thread serialises, also what a serializer raises.
        """
        now_ms = time.time_ns() // 1_000_000
        event = Event(topic, key, value, time.monotonic(), partition, now_ms, told)
        if self.settings.serializing == "client thread":
            event.serialized = self._serializers.serialize(key, value)
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
        self._sockets.ring()

    def flush(self, timeout: float | None = None) -> int:
        """Send what waits at once, and wait until all is reported; how much is not, in that time."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("the send thread would wait for itself")
        with self.intake.changed:
            self._flushing += 1
            self._sockets.ring()
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
        self._sockets.ring()
        self._thread.join()
        if self._failure is not None:
            raise Stopped("the send thread has ended") from self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(None if kind is None else 0)

    def _work(self) -> None:
        try:
            while not self._stop:
                self._round()
        except BaseException as failure:  # noqa: BLE001 - raised again where it is closed
            self._failure = failure
        finally:
            self._perform(self._loop.do(Loop.give_up))
            with self.intake.changed:
                self.intake.changed.notify_all()
            self._sockets.shut()

    def _round(self) -> None:
        """Once through the document's loop."""
        loop = self._loop
        for _, step in STEPS:
            loop.hurry = self._flushing > 0
            if step is Select.READABLE:
                due = wake(loop)
                wait = math.inf if due is None else max(due - time.monotonic(), 0.0)
                loop.heard = self._sockets.readable(wants_write(loop), wait)
                loop.now = time.monotonic()
            elif step is Select.WRITABLE:
                loop.takes = self._sockets.writable(wants_write(loop))
            else:
                self._perform(loop.do(step))

    def _perform(self, actions: Collection[Action]) -> None:
        if not actions:
            return
        with self.intake.changed:  # there is room before it is told, for what `told` may send
            self._untold = sum(isinstance(action, Report) for action in actions)
            self.intake.over(self._untold)
        for action in actions:
            match action:
                case Connect(node, address):
                    self._sockets.connect(node, address)
                case Write(node, data):
                    self._loop.wrote(node, self._sockets.write(node, data))
                case Close(node):
                    self._sockets.close(node)
                case Report(outcome):
                    self._tell(outcome)
        with self.intake.changed:
            self._untold = 0
            self.intake.changed.notify_all()

    def _tell(self, outcome: Outcome) -> None:
        if outcome.event.told is None:
            return
        try:
            outcome.event.told(outcome)
        except Exception as problem:  # noqa: BLE001 - an application's fault is not the thread's end
            self.problems.append(problem)
