"""A share consumer's requests (KIP-932)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

ACCEPT: Final = 1
RELEASE: Final = 2
REJECT: Final = 3
"""Types of an acknowledgement; 0 is a gap."""

PATIENCE_S: Final = 10.0
"""How long a member waits for its assignment, or for records."""

Acknowledgement = tuple[int, int, int]
"""First and last offset, and type."""


@dataclass(slots=True)
class ShareConsumer:
    """A member of a share group with a share session at the leader of partition 0 of one topic."""

    broker: Broker
    group: str
    topic_id: Any
    coordinator: Connection
    leader: Connection
    member_id: str
    member_epoch: int = 0
    session_epoch: int = 0

    async def heartbeat(
        self, epoch: int | None = None, topics: Sequence[str] | None = None
    ) -> Response:
        """Send ShareGroupHeartbeat; keep the member epoch."""
        response = await self.coordinator.send(
            "ShareGroupHeartbeat",
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.member_epoch if epoch is None else epoch,
            rack_id=None,
            subscribed_topic_names=topics,
        )
        if response["error_code"] == "NONE":
            self.member_epoch = response["member_epoch"]
        return response

    async def fetch(self, *acknowledgements: Acknowledgement, **fields: Any) -> Response:
        """Send ShareFetch with acknowledgements, and return the whole response."""
        body = {
            "group_id": self.group,
            "member_id": self.member_id,
            "share_session_epoch": self.session_epoch,
            "max_wait_ms": 200,
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "max_records": 100,
            "batch_size": 100,
            "topics": [self._topic(acknowledgements)],
            "forgotten_topics_data": [],
            **fields,
        }
        response = await self.leader.send("ShareFetch", **body)
        if response["error_code"] == "NONE":
            self.session_epoch += 1
        return response

    async def acknowledge(self, *acknowledgements: Acknowledgement, **fields: Any) -> Response:
        """Send ShareAcknowledge, and return the whole response."""
        body = {
            "group_id": self.group,
            "member_id": self.member_id,
            "share_session_epoch": self.session_epoch,
            "topics": [self._topic(acknowledgements)],
            **fields,
        }
        response = await self.leader.send("ShareAcknowledge", **body)
        if response["error_code"] == "NONE":
            self.session_epoch += 1
        return response

    async def acquired(self) -> Response:
        """Fetch until records are acquired, and return the partition's part. Raises Failed after a while."""
        deadline = await Now() + PATIENCE_S
        while True:
            response = (await self.fetch()).expect(error_code="NONE")
            if response["responses"]:
                part = response.at("responses[0].partitions[0]").expect(error_code="NONE")
                if part["acquired_records"]:
                    return part
            if await Now() > deadline:
                raise response.failed("responses", "acquired records", "none")

    def _topic(self, acknowledgements: Sequence[Acknowledgement]) -> dict[str, Any]:
        batches = [
            {"first_offset": first, "last_offset": last, "acknowledge_types": [kind]}
            for first, last, kind in acknowledgements
        ]
        partition = {
            "partition_index": 0,
            "partition_max_bytes": 1 << 20,
            "acknowledgement_batches": batches,
        }
        return {"topic_id": self.topic_id, "partitions": [partition]}


async def joining(
    broker: Broker, topic: str, group: str | None = None, number: int = 1
) -> ShareConsumer:
    """Return a share consumer that has not joined its group."""
    group = group or broker.name("group")
    return ShareConsumer(
        broker,
        group,
        await broker.topic_id(topic),
        await broker.coordinator(group),
        await broker.leader(topic, fresh=True),
        str(uuid.uuid5(uuid.NAMESPACE_OID, f"{group} {number}")),
    )


async def member(
    broker: Broker, topic: str, group: str | None = None, number: int = 1
) -> ShareConsumer:
    """Return a share consumer that has joined its group and is assigned the topic.

    The group reads from the start of the topic, if the broker has configs of groups.
    """
    consumer = await joining(broker, topic, group, number)
    if group is None:
        await _from_start(broker, consumer.group)
    (await consumer.heartbeat(0, [topic])).expect(error_code="NONE")
    deadline = await Now() + PATIENCE_S
    while await Now() < deadline:
        response = (await consumer.heartbeat(topics=[topic])).expect(error_code="NONE")
        if response["assignment"] and response["assignment.topic_partitions"]:
            break
        await Sleep(0.1)
    return consumer


async def _from_start(broker: Broker, group: str) -> None:
    """Set share.auto.offset.reset of a group to earliest."""
    config = {"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}
    resource = {"resource_type": 32, "resource_name": group, "configs": [config]}
    await broker.send("IncrementalAlterConfigs", resources=[resource], validate_only=False)
