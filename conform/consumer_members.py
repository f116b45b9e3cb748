"""Members of consumer groups of KIP-848, each with a connection of its own: heartbeats, assignments."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped

REBALANCE_MS: Final = 30_000
"""The rebalance timeout of members."""

POLL_S: Final = 0.1
"""The time between heartbeats of members that wait for an assignment."""

LEAVE: Final = -1
LEAVE_STATIC: Final = -2
"""Member epochs that end a membership, the second one for a restart."""

CONSUMER: Final = {"ConsumerGroupHeartbeat": 0}
"""What checks with members need."""


@dataclass(eq=False)
class ConsumerMember:
    """A member of a consumer group of KIP-848. It gives up partitions as soon as an assignment lacks them."""

    group: str
    connection: Connection
    id: str
    topics: Sequence[str]
    instance_id: str | None = None
    epoch: int = 0
    owned: list[dict[str, Any]] = field(default_factory=list)
    """The partitions that the member owns, as in requests: topic_id and partitions."""

    async def request_heartbeat(self, **fields: Any) -> None:
        """Send a heartbeat without changes, but for some fields, and do not wait for the response."""
        await self.connection.write("ConsumerGroupHeartbeat", None, **self._fields(fields))

    async def try_heartbeat(self, **fields: Any) -> Response:
        """Send a heartbeat without changes, but for some fields, and return the response."""
        response = await self.connection.send(
            "ConsumerGroupHeartbeat", None, **self._fields(fields)
        )
        return enabled(response)

    def _fields(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "group_id": self.group,
            "member_id": self.id,
            "member_epoch": self.epoch,
            "instance_id": self.instance_id,
            "rebalance_timeout_ms": -1,
            "subscribed_topic_names": None,
            "topic_partitions": None,
            **changes,
        }

    def joining(self) -> dict[str, Any]:
        """Return the fields of a first heartbeat."""
        return {
            "member_epoch": 0,
            "rebalance_timeout_ms": REBALANCE_MS,
            "subscribed_topic_names": list(self.topics),
            "topic_partitions": [],
        }

    async def join(self, **fields: Any) -> Response:
        """Join, and return the response, which must have no error."""
        return self.accept(await self.try_heartbeat(**{**self.joining(), **fields}))

    async def heartbeat(self, **fields: Any) -> Response:
        """Send a heartbeat with the owned partitions. The response must have no error."""
        return self.accept(await self.try_heartbeat(**{"topic_partitions": self.owned, **fields}))

    def accept(self, response: Response) -> Response:
        """Take over epoch and assignment of a response. Raises Failed if it has an error."""
        enabled(response).expect(error_code="NONE")
        self.epoch = response["member_epoch"]
        if response["assignment"] is not None:
            self.owned = [
                {"topic_id": row["topic_id"], "partitions": row["partitions"]}
                for row in response["assignment.topic_partitions"]
            ]
        return response

    @property
    def partitions(self) -> list[int]:
        """Return the numbers of the owned partitions."""
        return partitions_of(self.owned)

    async def until_assigned(self, count: int) -> Response:
        """Send heartbeats until the member owns a number of partitions, and one more that confirms it.

        Raises Failed after 10 s.
        """
        deadline = await Now() + SETTLE_S
        while True:
            response = await self.heartbeat()
            if len(self.partitions) == count:
                return await self.heartbeat()
            if await Now() > deadline:
                received = f"{self.partitions}"
                raise response.failed("assignment", f"{count} partitions", received)
            await Sleep(POLL_S)


def enabled(response: Response) -> Response:
    """Return a response, or a part of it. Raises Skipped if the broker has switched the protocol off.

    Kafka offers the APIs all the same, if group.version is 0 or only classic groups are enabled.
    """
    if response["error_code"] == "UNSUPPORTED_VERSION":
        raise Skipped("consumer groups of KIP-848 are disabled: UNSUPPORTED_VERSION")
    return response


def partitions_of(rows: Iterable[dict[str, Any]]) -> list[int]:
    """Return the numbers of partitions in rows of any topics, sorted."""
    return sorted(partition for row in rows for partition in row["partitions"])


async def new_consumer(
    broker: Broker, group: str, topics: Sequence[str], **fields: Any
) -> ConsumerMember:
    """Return a member that has not joined yet; `fields` are those of `ConsumerMember`."""
    connection = await broker.coordinator(group, fresh=True)
    name = f"{group} {connection.number}"
    member = base64.urlsafe_b64encode(uuid.uuid5(uuid.NAMESPACE_OID, name).bytes)
    return ConsumerMember(
        group, connection, **{"id": member.decode().rstrip("="), "topics": topics, **fields}
    )


async def only_consumer(broker: Broker, topic: str, count: int, **fields: Any) -> ConsumerMember:
    """Return the only member of a new group, which owns all partitions of a topic."""
    member = await new_consumer(broker, broker.name("group"), [topic], **fields)
    await member.join()
    await member.until_assigned(count)
    return member


async def consumer_pair(broker: Broker, topic: str) -> tuple[ConsumerMember, ConsumerMember]:
    """Return the members of a new group, each of which owns one of a topic's two partitions."""
    first = await only_consumer(broker, topic, 2)
    return first, await second_consumer(broker, first, topic)


async def second_consumer(broker: Broker, first: ConsumerMember, topic: str) -> ConsumerMember:
    """Return a member that has joined the group of the only one and got one of its two partitions."""
    second = await new_consumer(broker, first.group, [topic])
    await second.join()
    await first.until_assigned(1)
    await second.until_assigned(1)
    return second
