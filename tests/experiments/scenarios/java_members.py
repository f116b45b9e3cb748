"""Members of one group that read and commit, in a Java client's process: what came, what each was told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jpype

from barnabas.designs.rebalances.java.consumers import (
    Member,
    commit_callback,
    exception_name,
    partition_numbers,
    rebalance_listener,
)
from barnabas.peers.apache.client_values import until


class _Reader:
    """A member that reads and commits, and what it was told."""

    def __init__(self, request: dict[str, Any], name: str) -> None:
        self.received: list[tuple[int, int]] = []
        self.told: list[str] = []
        self._request = request
        self._committed = commit_callback(self._complete)
        listener = rebalance_listener(*map(self._hearing, ("assigned", "revoked", "lost")))
        settings = {**request["settings"], "client.id": name}
        self.member = Member(settings, request["topic"], self._turn, listener)

    def _turn(self, consumer: Any, timeout: Any) -> None:
        found = [(int(one.partition()), int(one.offset())) for one in consumer.poll(timeout)]
        if not found:
            return
        self.received += found
        time.sleep(self._request["pause"])
        if not self._request["wait"]:
            consumer.commitAsync(self._committed)
            return
        try:
            consumer.commitSync()
        except jpype.JException as problem:
            self.told.append(exception_name(problem))

    def _hearing(self, what: str) -> Callable[[Any], None]:
        def hear(partitions: Any) -> None:
            self.told.append(f"{what} {','.join(map(str, partition_numbers(partitions)))}")

        return hear

    def _complete(self, _: Any, problem: Any) -> None:
        if problem is not None:
            self.told.append(exception_name(problem))


def read_together(request: dict[str, Any]) -> dict[str, Any]:
    """Members read until they have `count` different records between them.

    Each of them comes once there are as many as `joins` says. Raises TimeoutError if not all have
    come after `seconds`.
    """
    members: list[_Reader] = []

    def come() -> int:
        for reader in members:
            if reader.member.problem is not None:
                raise reader.member.problem
        return len({record for member in members for record in list(member.received)})

    def until_come(wanted: int) -> None:
        until(lambda: come() >= wanted, request["seconds"], said)

    def said() -> str:
        return f"{come()} of {request['count']} records came to {len(members)} members"

    try:
        for number, before in enumerate(request["joins"]):
            until_come(before)
            members.append(_Reader(request, f"member-{number}"))
        until_come(request["count"])
    finally:
        for reader in members:
            reader.member.leave()
    return {"members": [{"received": one.received, "told": one.told} for one in members]}
