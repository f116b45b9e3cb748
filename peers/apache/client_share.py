"""Two members of one group, in a Java client's process: each has a thread, as KafkaConsumer wants."""

from __future__ import annotations

import threading
from itertools import chain
from typing import Any

from barnabas.peers.apache.client_values import java_list, new_consumer, poll_timeout, until


class _Member:
    """A consumer that stays in its group until it is told to leave."""

    def __init__(self, topic: str, settings: dict[str, str]) -> None:
        self.owned: list[int] = []
        self.problem: Exception | None = None
        self._leave = threading.Event()
        self._topic, self._settings = topic, settings
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        consumer = new_consumer(self._settings)
        try:
            consumer.subscribe(java_list(self._topic))
            timeout = poll_timeout(consumer)
            while not self._leave.is_set():
                consumer.poll(timeout)
                self.owned = sorted(int(one.partition()) for one in consumer.assignment())
        except Exception as problem:  # noqa: BLE001 - raised again by who waits for it
            self.problem = problem
        finally:
            consumer.close()

    def leave(self) -> None:
        """Close the consumer; returns when that is done."""
        self._leave.set()
        self._thread.join()


def share(request: dict[str, Any]) -> dict[str, Any]:
    """Which partitions one member owns alone, two own together, and the first one when it is left.

    `partitions` are those of the topic. Raises TimeoutError if they are not all owned after `seconds`.
    """
    everything = list(range(request["partitions"]))
    members: list[_Member] = []

    def owned() -> list[list[int]]:
        for member in members:
            if member.problem is not None:
                raise member.problem
        return [member.owned for member in members]

    def complete() -> bool:
        return all(owned()) and sorted(chain(*owned())) == everything

    def settled() -> list[list[int]]:
        until(complete, request["seconds"], lambda: f"{len(members)} members own {owned()}")
        return sorted(owned())

    found = {}
    try:
        for state in ("alone", "two"):
            members.append(_Member(request["topic"], request["settings"]))
            found[state] = settled()
        members.pop().leave()
        found["left"] = settled()
    finally:
        for member in members:
            member.leave()
    return found
