"""A Java client whose consumers follow scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from barnabas.peers.apache.client import JavaClient

MemberEvent = list[Any]
"""An event of a group member: seconds since 1970, its kind, and details: `reads` ids, `commits` mark, how,
[partition, offset] of each, `committed` mark, exception or "", `assigned`, `revoked`, `lost` partitions,
`died` exception, message."""


class FollowingClient(JavaClient):
    """Producers and consumers of one version of kafka-clients, and groups that follow scripts."""

    def __init__(self, version: str, settings: Mapping[str, str]) -> None:
        super().__init__(version, settings, "barnabas.designs.rebalances.java.process")
        self._common = dict(settings)

    def follow(
        self,
        topic: str,
        count: int,
        groups: Sequence[Sequence[Mapping[str, Any]]],
        *,
        settings: Mapping[str, str] | None = None,
        notes: Path | None = None,
    ) -> list[list[list[MemberEvent]]]:
        """Let groups of consumers follow scripts, all at once; return the events of each member.

        count: number of different records in the topic. Each member has `settings`, `steps` (see `steps.py`)
        and `commits_when_revoked`. notes: a file, in which each line is a JSON array of a client id and an
        event of that member, written as it happens. Raises JavaError.
        """
        common = {**self._common, "auto.offset.reset": "earliest", **(settings or {})}
        prepared = [
            [{**member, "settings": {**common, **member["settings"]}} for member in group]
            for group in groups
        ]
        notes_path = None if notes is None else str(notes)
        answer = self.ask("follow", topic=topic, count=count, groups=prepared, notes=notes_path)
        events: list[list[list[MemberEvent]]] = answer["groups"]
        return events
