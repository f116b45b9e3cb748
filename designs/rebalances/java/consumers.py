"""What consumers in a Java client's process share: threads, listeners, and the reading of Kafka's objects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import jpype

from barnabas.peers.apache.client_values import java_list, new_consumer, package, poll_timeout

P = ParamSpec("P")
R = TypeVar("R")

_ALONE: Final = threading.RLock()


def alone_at_first(do: Callable[P, R]) -> Callable[P, R]:
    """One thread at a time, until the function has once given something.

    JPype finds out what a Java method takes when it is first called; if two threads do that at the same
    time, the process dies of a null pointer.
    """
    done = threading.Event()

    @wraps(do)
    def first(*args: P.args, **kwargs: P.kwargs) -> R:
        if done.is_set():
            return do(*args, **kwargs)
        with _ALONE:
            found = do(*args, **kwargs)
            if found is None or found:
                done.set()
            return found

    return first


class Member:
    """A consumer with a thread of its own, as KafkaConsumer wants: it does `turn` until it is to leave.

    turn: gets the consumer, and the timeout to poll with.
    """

    def __init__(
        self, settings: dict[str, str], topic: str, turn: Callable[[Any, Any], None], *listener: Any
    ) -> None:
        self.problem: Exception | None = None
        self._leave = threading.Event()
        self._subscription = java_list(topic), *listener
        self._settings, self._turn = settings, turn
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        consumer = new_consumer(self._settings)
        try:
            consumer.subscribe(*self._subscription)
            timeout = poll_timeout(consumer)
            while not self._leave.is_set():
                self._turn(consumer, timeout)
        except Exception as problem:  # noqa: BLE001 - raised again by who waits for it
            self.problem = problem
        finally:
            consumer.close()

    def leave(self) -> None:
        """Close the consumer; returns when that is done."""
        self._leave.set()
        self._thread.join()


def rebalance_listener(
    assigned: Callable[[Any], None], revoked: Callable[[Any], None], lost: Callable[[Any], None]
) -> Any:
    """A ConsumerRebalanceListener."""
    return jpype.JProxy(
        package("consumer").ConsumerRebalanceListener,
        dict={
            "onPartitionsAssigned": assigned,
            "onPartitionsRevoked": revoked,
            "onPartitionsLost": lost,  # since 2.4 (KIP-429)
        },
    )


def commit_callback(complete: Callable[[Any, Any], None]) -> Any:
    """An OffsetCommitCallback."""
    return jpype.JProxy(package("consumer").OffsetCommitCallback, dict={"onComplete": complete})


@alone_at_first
def values(polled: Any) -> list[str]:
    """The values of records."""
    return [bytes(one.value()).decode() for one in polled]


@alone_at_first
def exception_name(problem: Any) -> str:
    """An exception's class, without its package."""
    return str(problem.getClass().getSimpleName())


@alone_at_first
def partition_numbers(partitions: Any) -> list[int]:
    """Their numbers, sorted."""
    return sorted(int(one.partition()) for one in partitions)


@alone_at_first
def others(partitions: Any, only: Any) -> Any:
    """Those that are not to be read.

    What is to be read may be among those that a listener hears of: the consumer protocol's client of 3.9
    has an assignment before it says so.
    """
    return java_list(*(one for one in partitions if not only.contains(one)))


@alone_at_first
def positions(consumer: Any, partitions: Any, mark: str) -> Any:
    """Where the consumer is in partitions, to be committed."""
    made = jpype.java.util.HashMap()
    for one in partitions:
        made.put(one, package("consumer").OffsetAndMetadata(consumer.position(one), mark))
    return made


@alone_at_first
def marked(offsets: Any, mark: str) -> Any:
    """The same offsets with another mark."""
    made = jpype.java.util.HashMap()
    for one in offsets.keySet():
        made.put(one, package("consumer").OffsetAndMetadata(offsets.get(one).offset(), mark))
    return made


@alone_at_first
def offset_pairs(offsets: Any) -> list[list[int]]:
    """Partition and offset of each."""
    pairs = ([int(one.partition()), int(offsets.get(one).offset())] for one in offsets.keySet())
    return sorted(pairs)
