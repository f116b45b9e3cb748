"""Members of streams groups (KIP-1071), each with a connection of its own: topology, heartbeats, tasks."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped

SUBTOPOLOGY: Final = "0"
"""The only subtopology of members' topologies."""

LEAVE: Final = -1
"""The member epoch that ends a membership."""

STREAMS: Final = {"StreamsGroupHeartbeat": 0}
"""What checks with members need."""

POLL_S: Final = 0.1
"""The time between heartbeats of members that wait for tasks."""


@dataclass(eq=False)
class StreamsMember:
    """A member of a streams group."""

    group: str
    topic: str
    """The source topic of its topology."""
    connection: Connection
    id: str
    epoch: int = 0
    tasks: list[int] = field(default_factory=list)
    """The partitions of its active tasks."""

    def joining(self) -> dict[str, Any]:
        """Return the fields of a first heartbeat."""
        return {
            "member_epoch": 0,
            "rebalance_timeout_ms": 30_000,
            "topology": topology(self.topic),
            "active_tasks": [],
            "standby_tasks": [],
            "warmup_tasks": [],
            "process_id": self.id,
        }

    async def try_heartbeat(self, **fields: Any) -> Response:
        """Send a heartbeat without changes, but for some fields, and return the response.

        Raises:
            Skipped: the broker has switched streams groups off.
        """
        response = await self.connection.send(
            "StreamsGroupHeartbeat",
            **{
                "group_id": self.group,
                "member_id": self.id,
                "member_epoch": self.epoch,
                "endpoint_information_epoch": -1,
                **fields,
            },
        )
        if response["error_code"] == "UNSUPPORTED_VERSION":
            raise Skipped("streams groups are disabled: UNSUPPORTED_VERSION")
        return response

    async def join(self, **fields: Any) -> Response:
        """Join, and return the response, which must have no error."""
        return self.accept(await self.try_heartbeat(**{**self.joining(), **fields}))

    def accept(self, response: Response) -> Response:
        """Take over epoch and tasks of a response. Raises Failed if it has an error."""
        response.expect(error_code="NONE")
        self.epoch = response["member_epoch"]
        if response["active_tasks"] is not None:
            self.tasks = sorted(
                partition for row in response["active_tasks"] for partition in row["partitions"]
            )
        return response

    async def heartbeat(self) -> Response:
        """Send a heartbeat with the tasks that the member has. The response must have no error."""
        rows = [{"subtopology_id": SUBTOPOLOGY, "partitions": self.tasks}] if self.tasks else []
        response = await self.try_heartbeat(active_tasks=rows, standby_tasks=[], warmup_tasks=[])
        return self.accept(response)

    async def until_assigned(self, count: int) -> Response:
        """Send heartbeats until the member has a number of active tasks. Raises Failed after 10 s."""
        deadline = await Now() + SETTLE_S
        while True:
            response = await self.heartbeat()
            if len(self.tasks) == count:
                return await self.heartbeat()
            if await Now() > deadline:
                raise response.failed("active_tasks", f"{count} tasks", f"{self.tasks}")
            await Sleep(POLL_S)


def topology(topic: str, epoch: int = 0) -> dict[str, Any]:
    """Return a topology with a subtopology that reads a topic."""
    subtopology = {
        "subtopology_id": SUBTOPOLOGY,
        "source_topics": [topic],
        "source_topic_regex": [],
        "state_changelog_topics": [],
        "repartition_sink_topics": [],
        "repartition_source_topics": [],
        "copartition_groups": [],
    }
    return {"epoch": epoch, "subtopologies": [subtopology]}


async def new_streams_member(broker: Broker, topic: str, group: str | None = None) -> StreamsMember:
    """Return a member that has not joined yet; without group, of a new one."""
    group = group or broker.name("group")
    connection = await broker.coordinator(group, fresh=True)
    name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{group} {connection.number}"))
    return StreamsMember(group, topic, connection, name)
