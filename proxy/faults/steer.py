"""`steer`: the client reads another leader in Metadata, another coordinator in FindCoordinator.

acks=0: not applicable to requests.
Order: kept.
In flight: unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import Field, model_validator

from barnabas.plural import plural
from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of
from barnabas.specs.frames import Direction
from barnabas.specs.keys import FIND_COORDINATOR, METADATA

LEADER_NOT_AVAILABLE: Final = 5


class Steer(
    Settings,
    json_schema_extra={
        **some_of("leader", "coordinator"),
        "dependentRequired": {"topic": ["leader"], "partitions": ["leader"]},
    },
):
    """The client reads another leader in Metadata, another coordinator in FindCoordinator."""

    leader: Annotated[int, Field(ge=-1)] | None = None
    """Node id that Metadata responses name as leader; -1: no leader (LEADER_NOT_AVAILABLE)."""
    coordinator: Annotated[int, Field(ge=0)] | None = None
    """Node id that FindCoordinator responses name; its address must be known."""
    topic: str = "*"
    """A glob: the topics that get another leader."""
    partitions: Annotated[frozenset[int], Field(strict=False)] | None = None
    """The partitions that get another leader. All if absent."""

    only_kafka: ClassVar = True

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.leader is None and self.coordinator is None:
            raise ValueError("give leader, coordinator, or both")
        if self.leader is None and self.model_fields_set & {"topic", "partitions"}:
            raise ValueError("topic and partitions say where there is another leader: give leader")
        return self

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Return whether a message is a Metadata or FindCoordinator response."""
        return direction == "response" and key in (METADATA, FIND_COORDINATOR)


def steer(config: Steer, message: Message, roll: Roll) -> Effects:
    """Name another node in the response; no random draw.

    Raises:
        Unable: The response names no leader or coordinator, or the node's address is unknown.
    """
    values = message.values()
    count = 0
    if config.leader is not None:
        for partition in _partitions(config, values):
            partition["leader_id"] = config.leader
            if config.leader < 0:
                partition["error_code"] = LEADER_NOT_AVAILABLE
            count += 1
    if config.coordinator is not None:
        entries = [values, *values.get("coordinators", ())]
        named = [entry for entry in entries if "host" in entry and "node_id" in entry]
        address = message.listener(config.coordinator)
        if named and address is None:
            raise Unable(f"the address of node {config.coordinator} is not known yet")
        for entry in named:
            assert address is not None  # noqa: S101
            entry |= {"node_id": config.coordinator, "host": address[0], "port": address[1]}
            count += 1
    if not count:
        raise Unable("the response names no leader or coordinator")
    return (Become(message.encoded(values), f"steered in {plural(count, 'place')}"),)


def _partitions(config: Steer, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the partitions of a Metadata response that the settings select."""
    for topic in values.get("topics", ()):
        if fnmatchcase(topic.get("name") or "", config.topic):
            for partition in topic.get("partitions", ()):
                if config.partitions is None or partition["partition_index"] in config.partitions:
                    yield partition
