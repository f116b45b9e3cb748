"""Two members of one group, in a Java client's process: each has a thread, as KafkaConsumer wants."""

from __future__ import annotations

from itertools import chain
from typing import Any

from barnabas.peers.apache.client_consumers import Member
from barnabas.peers.apache.client_values import until


class _Owner:
    """A member that only polls, and the partitions that it owns."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.owned: list[int] = []
        self.member = Member(request["settings"], request["topic"], self._turn)

    def _turn(self, consumer: Any, timeout: Any) -> None:
        consumer.poll(timeout)
        self.owned = sorted(int(one.partition()) for one in consumer.assignment())


def share(request: dict[str, Any]) -> dict[str, Any]:
    """Which partitions one member owns alone, two own together, and the first one when it is left.

    `partitions` are those of the topic. Raises TimeoutError if they are not all owned after `seconds`.
    """
    everything = list(range(request["partitions"]))
    members: list[_Owner] = []

    def owned() -> list[list[int]]:
        for one in members:
            if one.member.problem is not None:
                raise one.member.problem
        return [one.owned for one in members]

    def complete() -> bool:
        return all(owned()) and sorted(chain(*owned())) == everything

    def settled() -> list[list[int]]:
        until(complete, request["seconds"], lambda: f"{len(members)} members own {owned()}")
        return sorted(owned())

    found = {}
    try:
        for state in ("alone", "two"):
            members.append(_Owner(request))
            found[state] = settled()
        members.pop().member.leave()
        found["left"] = settled()
    finally:
        for one in members:
            one.member.leave()
    return found
