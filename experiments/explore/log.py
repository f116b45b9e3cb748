"""The cluster's records after a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from barnabas.experiments.explore.history import TopicPartition


class LoggedRecord(NamedTuple):
    """A record in the log."""

    topic: str
    partition: int
    offset: int
    id: str
    visible: bool | None = True
    """Whether consumers of committed records receive it; False: its transaction was aborted; None: undecided,
    since a preceding transaction is open."""


class Log:
    """The records of some topics, in the order of their partitions."""

    def __init__(
        self,
        records: Iterable[LoggedRecord] = (),
        starts: Mapping[TopicPartition, int] | None = None,
    ) -> None:
        self.records = tuple(sorted(records, key=lambda record: record[:3]))
        self._starts = dict(starts or {})

    def covers(self, topic: str, partition: int, offset: int) -> bool:
        """Return whether an offset belongs to this run, and is still in the log."""
        return offset >= self._starts.get((topic, partition), 0)

    @cached_property
    def at(self) -> dict[tuple[str, int, int], LoggedRecord]:
        """Return the record by (topic, partition, offset)."""
        return {record[:3]: record for record in self.records}

    @cached_property
    def not_aborted(self) -> tuple[LoggedRecord, ...]:
        """Return the records except those of aborted transactions."""
        return tuple(record for record in self.records if record.visible is not False)

    @cached_property
    def partitions(self) -> dict[TopicPartition, list[LoggedRecord]]:
        """Return the records of `not_aborted` by partition."""
        by_partition: dict[TopicPartition, list[LoggedRecord]] = {}
        for record in self.not_aborted:
            by_partition.setdefault((record.topic, record.partition), []).append(record)
        return by_partition
