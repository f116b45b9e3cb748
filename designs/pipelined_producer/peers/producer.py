"""The producer's interface for applications: a send thread around the event loop, with real sockets."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, Self

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers import actions
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event, Outcome
from barnabas.designs.pipelined_producer.peers.intake import Intake, Partitioner, QueueFull, by_hash
from barnabas.designs.pipelined_producer.peers.loop import Loop
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN, Serializers
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.pipelined_producer.peers.sockets import Lookup, Sockets, look_up
from barnabas.designs.pipelined_producer.peers.steps import STEPS, wake, wants_write


class Stopped(RuntimeError):
    """The producer was closed, or a fault ended its send thread."""


class PipelinedProducer:
    """An asynchronous producer. The send thread calls `told` once for each message, with its outcome.

    bootstrap: brokers to ask for metadata first. lookup: resolves host names. `problems` collects what
    `told` raises. `told` may send, but not wait: flush and close raise RuntimeError there.
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
        """Events that have left the producer, but may not be reported to `told` yet."""
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
        """Take a message and return; if there is no room, wait for it at most `wait` seconds.

        Raises QueueFull, Stopped, TooLarge, ValueError for an invalid topic or partition, and what the
        partitioner raises; if this thread serialises, also what a serializer raises.
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
                    if (seconds := until - time.monotonic()) <= 0:
                        raise
                    self.intake.changed.wait(seconds)
        self._sockets.ring()

    def flush(self, timeout: float | None = None) -> int:
        """Send waiting messages at once and wait for all reports; return how many are missing."""
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
        """Flush, and report messages that were not sent in time. Raises Stopped after a fault."""
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
        """Take each step of the document's loop."""
        loop = self._loop
        for _, step in STEPS:
            loop.hurry = self._flushing > 0
            if step is actions.Select.READABLE:
                due = wake(loop)
                wait = math.inf if due is None else max(due - time.monotonic(), 0.0)
                loop.heard = self._sockets.readable(wants_write(loop), wait)
                loop.now = time.monotonic()
            elif step is actions.Select.WRITABLE:
                loop.takes = self._sockets.writable(wants_write(loop))
            else:
                self._perform(loop.do(step))

    def _perform(self, todo: Collection[actions.Action]) -> None:
        if not todo:
            return
        with self.intake.changed:  # there is room before the reports, for events that `told` sends
            self._untold = sum(isinstance(action, actions.Report) for action in todo)
            self.intake.over(self._untold)
        for action in todo:
            match action:
                case actions.Connect(node, address):
                    self._sockets.connect(node, address)
                case actions.Write(node, data):
                    self._loop.wrote(node, self._sockets.write(node, data))
                case actions.Close(node):
                    self._sockets.close(node)
                case actions.Report(outcome) if outcome.event.told is not None:
                    try:
                        outcome.event.told(outcome)
                    except Exception as problem:  # noqa: BLE001 - the application's fault
                        self.problems.append(problem)
        with self.intake.changed:
            self._untold = 0
            self.intake.changed.notify_all()
