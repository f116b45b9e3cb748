"""What the cluster holds after a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from barnabas.experiments.explore.history import Place


class Logged(NamedTuple):
    """A record as the log has it."""

    topic: str
    partition: int
    offset: int
    id: str
    visible: bool | None = True
    """Whether a consumer that reads committed records is given it; False: its transaction was
    aborted; None: not decided yet, a transaction before it is open."""


class Log:
    """The records of some topics, in the order of their partitions."""

    def __init__(
        self, records: Iterable[Logged] = (), starts: Mapping[Place, int] | None = None
    ) -> None:
        self.records = tuple(sorted(records, key=lambda record: record[:3]))
        self._starts = dict(starts or {})

    def covers(self, topic: str, partition: int, offset: int) -> bool:
        """Whether an offset is of this run, and not from before it (or gone since)."""
        return offset >= self._starts.get((topic, partition), 0)

    @cached_property
    def at(self) -> dict[tuple[str, int, int], Logged]:
        """(topic, partition, offset) -> what is there."""
        return {record[:3]: record for record in self.records}

    @cached_property
    def kept(self) -> tuple[Logged, ...]:
        """The records but for those of aborted transactions."""
        return tuple(record for record in self.records if record.visible is not False)

    @cached_property
    def partitions(self) -> dict[Place, list[Logged]]:
        """`kept` by partition."""
        found: dict[Place, list[Logged]] = {}
        for record in self.kept:
            found.setdefault((record.topic, record.partition), []).append(record)
        return found
