"""Members of classic groups, each with a connection of its own: join, sync, heartbeat, leave."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import SETTLE_S, TRANSIENT, Connection
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

SESSION_MS: Final = 30_000
"""Session and rebalance timeout of members, unless a check gives others."""

MEMBERS: Final = {"JoinGroup": 0, "SyncGroup": 0, "Heartbeat": 0}
"""What checks with members need."""

HELD_S: Final = 0.5
"""If a JoinGroup has no response after this time, the coordinator waits for other members."""

NOTICE_S: Final = 10.0
"""How long it may take until heartbeats report a rebalance."""


def subscription(*topics: str) -> bytes:
    """Return the metadata of a consumer that subscribes to topics (ConsumerProtocolSubscription v0)."""
    names = [struct.pack(">h", len(topic)) + topic.encode() for topic in topics]
    return struct.pack(">hi", 0, len(topics)) + b"".join(names) + struct.pack(">i", -1)


@dataclass(eq=False)
class Member:
    """A member of a classic group."""

    group: str
    connection: Connection
    instance_id: str | None = None
    protocols: Mapping[str, bytes] = field(default_factory=lambda: {"range": subscription()})
    """Names of protocols, each with the member's metadata; the preferred one first.

    In groups of type "consumer" Kafka reads the metadata, which has to be valid.
    """
    protocol_type: str = "consumer"
    session_ms: int = SESSION_MS
    rebalance_ms: int = SESSION_MS
    id: str = ""
    generation: int = -1
    _first: Response | None = None
    """The response of a JoinGroup that was not held."""

    async def request_join(self) -> None:
        """Send a JoinGroup and do not wait for other members.

        If the coordinator only gives the member an id, the member sends it again with the id.
        """
        deadline = await Now() + SETTLE_S
        while not self.id:
            await self.connection.write("JoinGroup", None, **self.join_fields())
            self._first = await self.connection.response_within(HELD_S)
            if self._first is None:
                return
            error = self._first["error_code"]
            if error == "MEMBER_ID_REQUIRED":
                self.id = self._first["member_id"]
            elif error not in TRANSIENT or await Now() > deadline:
                return
            else:
                await Sleep(0.1)
        self._first = None
        await self.connection.write("JoinGroup", None, **self.join_fields())

    async def has_join_response(self, seconds: float) -> bool:
        """Return whether `request_join` has a response, after some seconds at the latest."""
        self._first = self._first or await self.connection.response_within(seconds)
        return self._first is not None

    async def join_response(self, seconds: float = 10.0) -> Response:
        """Return the response to `request_join`. The member has the id and generation from now on."""
        response, self._first = self._first or await self.connection.read(seconds), None
        if response["error_code"] == "NONE":
            self.id, self.generation = response["member_id"], response["generation_id"]
        return response

    async def try_join(self) -> Response:
        """Join, and return the response, which may have an error."""
        await self.request_join()
        return await self.join_response()

    async def join(self) -> Response:
        """Join, and return the response. Raises Failed if it has an error."""
        return (await self.try_join()).expect(error_code="NONE")

    def join_fields(self) -> dict[str, Any]:
        """Return the body of a JoinGroup."""
        protocols = [{"name": name, "metadata": data} for name, data in self.protocols.items()]
        return {
            "group_id": self.group,
            "session_timeout_ms": self.session_ms,
            "rebalance_timeout_ms": self.rebalance_ms,
            "member_id": self.id,
            "group_instance_id": self.instance_id,
            "protocol_type": self.protocol_type,
            "protocols": protocols,
        }

    async def request_sync(
        self, assignments: Mapping[str, bytes] | None = None, **fields: Any
    ) -> None:
        """Send a SyncGroup with assignments by member id (from the leader), and do not wait."""
        await self.connection.write(
            "SyncGroup",
            None,
            **{
                **self._identity(),
                "protocol_type": self.protocol_type,
                "protocol_name": next(iter(self.protocols)),
                "assignments": [
                    {"member_id": member, "assignment": data}
                    for member, data in (assignments or {}).items()
                ],
                **fields,
            },
        )

    async def sync(self, assignments: Mapping[str, bytes] | None = None, **fields: Any) -> Response:
        """Send a SyncGroup, and return the response."""
        await self.request_sync(assignments, **fields)
        return await self.connection.read()

    async def heartbeat(self, **fields: Any) -> Response:
        """Send a Heartbeat, and return the response."""
        return await self.connection.send("Heartbeat", None, **{**self._identity(), **fields})

    async def expect_rebalance(self) -> None:
        """Send heartbeats until the coordinator reports a rebalance. Raises Failed if it does not."""
        deadline = await Now() + NOTICE_S
        while True:
            response = await self.heartbeat()
            if response["error_code"] == "NONE" and await Now() < deadline:
                await Sleep(0.05)
                continue
            response.expect(error_code="REBALANCE_IN_PROGRESS")
            return

    async def leave(self) -> Response:
        """Leave the group, and return the member's part of the response."""
        return await leave(self.connection, self.group, self.id, self.instance_id)

    def _identity(self) -> dict[str, Any]:
        return {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.id,
            "group_instance_id": self.instance_id,
        }


async def leave(
    connection: Connection, group: str, member: str, instance_id: str | None = None
) -> Response:
    """Remove a member, and return the part of the response that has its error code."""
    row = {"member_id": member, "group_instance_id": instance_id}
    response = await connection.send("LeaveGroup", group_id=group, **row, members=[row])
    if response.request.version < 3:
        return response
    return response.expect(error_code="NONE").at("members[0]")


async def new_member(broker: Broker, group: str, **fields: Any) -> Member:
    """Return a member that has not joined yet; `fields` are those of `Member`."""
    return Member(group, await broker.coordinator(group, fresh=True), **fields)


async def only_member(broker: Broker, group: str, **fields: Any) -> Member:
    """Return the only member of a group; its assignment is b"all"."""
    member = await new_member(broker, group, **fields)
    await member.join()
    (await member.sync({member.id: b"all"})).expect(error_code="NONE")
    return member


async def rejoin(newcomer: Member, *present: Member) -> dict[str, Response]:
    """Return the JoinGroup responses by member id, once all members have joined with a newcomer.

    The newcomer has sent its JoinGroup; the present members learn it from heartbeats and join again.
    """
    for member in present:
        await member.expect_rebalance()
        await member.request_join()
    responses = {}
    for member in (*present, newcomer):
        response = (await member.join_response()).expect(error_code="NONE")
        responses[member.id] = response
    return responses


def leader_response(responses: Mapping[str, Response]) -> Response:
    """Return the leader's JoinGroup response. Raises Failed if no member is the leader.

    Args:
        responses: responses by member id, as from `rejoin`.
    """
    for member, response in responses.items():
        if response["leader"] == member:
            return response
    response = next(iter(responses.values()))
    raise response.failed("leader", f"one of {list(responses)}", response["leader"])


async def joined_pair(broker: Broker, group: str, **fields: Any) -> tuple[Member, Member]:
    """Return leader and follower of a group that have joined and not synced yet."""
    first = await only_member(broker, group, **fields)
    second = await new_member(broker, group, **fields)
    await second.request_join()
    responses = await rejoin(second, first)
    if responses[first.id]["leader"] == first.id:
        return first, second
    return second, first


async def pair(broker: Broker, group: str, **fields: Any) -> tuple[Member, Member]:
    """Return leader and follower of a stable group, with the assignments b"leader" and b"follower"."""
    leader, follower = await joined_pair(broker, group, **fields)
    assignments = {leader.id: b"leader", follower.id: b"follower"}
    (await leader.sync(assignments)).expect(error_code="NONE")
    (await follower.sync()).expect(error_code="NONE")
    return leader, follower


async def settle(*members: Member) -> list[Response]:
    """Let members act like consumers until one generation has all; return their JoinGroup responses.

    All have sent a JoinGroup. A member whose heartbeat reports a rebalance joins again.

    Raises Failed after 20 s.
    """
    responses: dict[Member, Response] = {}
    deadline = await Now() + 20
    pending = list(members)
    while pending:
        for member in tuple(pending):
            if await member.has_join_response(0.1) or await Now() > deadline:
                responses[member] = (await member.join_response()).expect(error_code="NONE")
                pending.remove(member)
        for member in members:
            if member in pending:
                continue
            heartbeat = await member.heartbeat()
            if heartbeat["error_code"] != "NONE":
                heartbeat.expect(error_code="REBALANCE_IN_PROGRESS")
                await member.request_join()
                pending.append(member)
    return [responses[member] for member in members]
