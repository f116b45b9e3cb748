"""Shared parts of consumers in a Java client's process: threads, listeners, and conversions."""

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
    """Run a function in one thread at a time, until it has returned a result once.

    JPype resolves a Java method at its first call; if two threads do that at the same time, the process
    crashes with a null pointer.
    """
    done = threading.Event()

    @wraps(do)
    def first(*args: P.args, **kwargs: P.kwargs) -> R:
        if done.is_set():
            return do(*args, **kwargs)
        with _ALONE:
            result = do(*args, **kwargs)
            if result is None or result:
                done.set()
            return result

    return first


class Member:
    """A consumer with a thread of its own, as KafkaConsumer requires: it repeats `turn` until it is to leave.

    turn: gets the consumer, and the timeout for poll.
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
        """Close the consumer, and wait until that is done."""
        self._leave.set()
        self._thread.join()


def rebalance_listener(
    assigned: Callable[[Any], None], revoked: Callable[[Any], None], lost: Callable[[Any], None]
) -> Any:
    """Create a ConsumerRebalanceListener."""
    return jpype.JProxy(
        package("consumer").ConsumerRebalanceListener,
        dict={
            "onPartitionsAssigned": assigned,
            "onPartitionsRevoked": revoked,
            "onPartitionsLost": lost,  # since 2.4 (KIP-429)
        },
    )


def commit_callback(complete: Callable[[Any, Any], None]) -> Any:
    """Create an OffsetCommitCallback."""
    return jpype.JProxy(package("consumer").OffsetCommitCallback, dict={"onComplete": complete})


@alone_at_first
def values(polled: Any) -> list[str]:
    """Return the values of records."""
    return [bytes(record.value()).decode() for record in polled]


@alone_at_first
def exception_name(problem: Any) -> str:
    """Return an exception's class, without its package."""
    return str(problem.getClass().getSimpleName())


@alone_at_first
def partition_numbers(partitions: Any) -> list[int]:
    """Return the numbers of partitions, sorted."""
    return sorted(int(partition.partition()) for partition in partitions)


@alone_at_first
def except_partitions(partitions: Any, only: Any) -> Any:
    """Return the partitions that are not among `only`.

    `only` may be among those of a listener's call: the consumer protocol's client of 3.9 has an assignment
    before it calls the listener.
    """
    return java_list(*(partition for partition in partitions if not only.contains(partition)))


@alone_at_first
def positions(consumer: Any, partitions: Any, mark: str) -> Any:
    """Return the consumer's positions in partitions, to be committed with a mark."""
    offsets = jpype.java.util.HashMap()
    for partition in partitions:
        offsets.put(
            partition, package("consumer").OffsetAndMetadata(consumer.position(partition), mark)
        )
    return offsets


@alone_at_first
def with_mark(offsets: Any, mark: str) -> Any:
    """Return the same offsets with another mark."""
    marked_offsets = jpype.java.util.HashMap()
    for partition in offsets.keySet():
        marked_offsets.put(
            partition, package("consumer").OffsetAndMetadata(offsets.get(partition).offset(), mark)
        )
    return marked_offsets


@alone_at_first
def offset_pairs(offsets: Any) -> list[list[int]]:
    """Return partition and offset of each entry."""
    pairs = (
        [int(partition.partition()), int(offsets.get(partition).offset())]
        for partition in offsets.keySet()
    )
    return sorted(pairs)
