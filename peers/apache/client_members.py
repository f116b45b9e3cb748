"""Members of one group that read and commit, in a Java client's process: what came, what each was told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import jpype

from barnabas.peers.apache.client_values import (
    java_list,
    new_consumer,
    package,
    poll_timeout,
    until,
)


class _Member:
    """A consumer with a thread of its own, as KafkaConsumer wants."""

    def __init__(self, request: dict[str, Any], name: str) -> None:
        self.received: list[tuple[int, int]] = []
        self.told: list[str] = []
        self.problem: Exception | None = None
        self._leave = threading.Event()
        self._request = request
        self._settings = {**request["settings"], "client.id": name}
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        consumer = new_consumer(self._settings)
        try:
            consumer.subscribe(java_list(self._request["topic"]), _listener(self.told))
            timeout = poll_timeout(consumer)
            committed = _callback(self.told)
            while not self._leave.is_set():
                found = [
                    (int(one.partition()), int(one.offset())) for one in consumer.poll(timeout)
                ]
                if not found:
                    continue
                self.received += found
                time.sleep(self._request["pause"])
                if self._request["wait"]:
                    self._commit(consumer)
                else:
                    consumer.commitAsync(committed)
        except Exception as problem:  # noqa: BLE001 - raised again by who waits for it
            self.problem = problem
        finally:
            consumer.close()

    def _commit(self, consumer: Any) -> None:
        try:
            consumer.commitSync()
        except jpype.JException as problem:
            self.told.append(_name(problem))

    def leave(self) -> None:
        """Close the consumer; returns when that is done."""
        self._leave.set()
        self._thread.join()


def _name(problem: Any) -> str:
    """An exception's class, without its package."""
    return str(problem.getClass().getSimpleName())


def _listener(told: list[str]) -> Any:
    """A ConsumerRebalanceListener that notes what it hears."""

    def noted(what: str) -> Callable[[Any], None]:
        return lambda partitions: told.append(f"{what} {_numbers(partitions)}")

    return jpype.JProxy(
        package("consumer").ConsumerRebalanceListener,
        dict={
            "onPartitionsAssigned": noted("assigned"),
            "onPartitionsRevoked": noted("revoked"),
            "onPartitionsLost": noted("lost"),  # since 2.4 (KIP-429)
        },
    )


def _numbers(partitions: Any) -> str:
    return ",".join(map(str, sorted(int(one.partition()) for one in partitions)))


def _callback(told: list[str]) -> Any:
    """An OffsetCommitCallback that notes the errors that it hears."""

    def complete(_: Any, problem: Any) -> None:
        if problem is not None:
            told.append(_name(problem))

    return jpype.JProxy(package("consumer").OffsetCommitCallback, dict={"onComplete": complete})


def read_together(request: dict[str, Any]) -> dict[str, Any]:
    """Members read until they have `count` different records between them.

    Each of them comes once there are as many as `joins` says. Raises TimeoutError if not all have
    come after `seconds`.
    """
    members: list[_Member] = []

    def come() -> int:
        for member in members:
            if member.problem is not None:
                raise member.problem
        return len({record for member in members for record in list(member.received)})

    def until_come(wanted: int) -> None:
        until(lambda: come() >= wanted, request["seconds"], said)

    def said() -> str:
        return f"{come()} of {request['count']} records came to {len(members)} members"

    try:
        for number, before in enumerate(request["joins"]):
            until_come(before)
            members.append(_Member(request, f"member-{number}"))
        until_come(request["count"])
    finally:
        for member in members:
            member.leave()
    return {"members": [{"received": one.received, "told": one.told} for one in members]}
