"""A Java client whose consumers follow scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from barnabas.peers.apache.client import JavaClient

Seen = list[Any]
"""Something that a member of a group saw: seconds since 1970, what, and what there is to say of it:
`reads` ids, `commits` mark, how, [partition, offset] of each, `committed` mark, exception or "",
`assigned`, `revoked`, `lost` partitions, `died` exception, message."""


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
    ) -> list[list[list[Seen]]]:
        """Let groups of consumers follow scripts, all at once; gives what each member saw.

        count: how many different records the topic has. Each member says `settings` of its own, `steps`
        (see `steps.py`) and whether it `commits_when_revoked`. notes: a file, in which each line is a JSON
        array of a client id and what that member saw, written as it happens. Raises JavaError.
        """
        common = {**self._common, "auto.offset.reset": "earliest", **(settings or {})}
        made = [
            [{**one, "settings": {**common, **one["settings"]}} for one in group]
            for group in groups
        ]
        told = None if notes is None else str(notes)
        answer = self.ask("follow", topic=topic, count=count, groups=made, notes=told)
        found: list[list[list[Seen]]] = answer["groups"]
        return found
