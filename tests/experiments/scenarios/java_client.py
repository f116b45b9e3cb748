"""Java clients of the scenarios' tests: members of one group that read together, and transactions in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from tests.peers.java.client import FullClient


class Member(NamedTuple):
    """What a member of a group lived to see."""

    received: list[tuple[int, int]]
    """Partition and offset of each record, in the order in which they came."""
    told: list[str]
    """`assigned 0,1`, `revoked 0,1`, `lost 0,1`, and the exceptions of commits by their classes."""


class Reading(NamedTuple):
    """How members read together.

    Each comes once there are as many records as `joins` says, and has its place there in its `client.id`
    (member-0). It commits what each poll gave `pause` seconds after it: `wait` with commitSync, else with
    commitAsync.
    """

    joins: Sequence[int] = (0,)
    wait: bool = True
    pause: float = 0.0
    seconds: float = 30.0
    """In which all records have to come."""


class ScenarioClient(FullClient):
    """A Java client with more calls."""

    def __init__(self, version: str, settings: Mapping[str, str]) -> None:
        super().__init__(version, settings, "tests.experiments.scenarios.java_process")

    def read_together(
        self,
        topic: str,
        count: int,
        settings: Mapping[str, str],
        reading: Reading = Reading(),  # noqa: B008 (immutable)
    ) -> list[Member]:
        """Join a group named like the topic with consumers that read until they have so many different
        records together. Raises JavaError, also if the records did not all come in time."""
        own = {"group.id": topic, "auto.offset.reset": "earliest", **settings}
        answer = self.ask("read_together", own, topic=topic, count=count, **reading._asdict())
        return [
            Member([(partition, offset) for partition, offset in one["received"]], one["told"])
            for one in answer["members"]
        ]

    def transact(
        self,
        topic: str,
        transactions: Sequence[tuple[Sequence[bytes], Literal["commit", "abort"]]],
        settings: Mapping[str, str],
    ) -> list[list[str]]:
        """Transactions of one new producer to a topic's first partition, each with its values and its end.

        Gives the exceptions of each by their classes: none, that for which it was aborted, or also that
        of the abort; then the producer is done with, and no further one is begun. settings: with a
        `transactional.id`. Raises JavaError if it can't begin at all.
        """
        asked = [
            [[one.decode("latin-1") for one in values], outcome] for values, outcome in transactions
        ]
        told: list[list[str]] = self.ask("transact", settings, topic=topic, transactions=asked)[
            "told"
        ]
        return told
