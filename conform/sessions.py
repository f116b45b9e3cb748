"""Fetch sessions (KIP-227): the broker remembers a session's partitions, and returns what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.logs import fetch_fields, fetched_topic
from barnabas.conform.partitions import Parts, parts
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped

CLOSED: Final = -1
"""The epoch of a request that closes its session."""


@dataclass(slots=True)
class Session:
    """A fetch session on the leader of some partitions of a topic."""

    broker: Broker
    topic: str
    leader: Connection
    version: int
    id: int = 0
    epoch: int = field(default=0, kw_only=True)
    """The epoch of the next request."""

    async def fetch(
        self,
        offsets: Mapping[int, int],
        *,
        forget: Sequence[int] = (),
        epoch: int | None = None,
        **fields: Any,
    ) -> Response:
        """Send the session's next request.

        Args:
            offsets: the offsets of partitions that are new in the session, or whose offset changed.
            forget: partitions that leave the session.
            epoch: another epoch than the next one.
            fields: fields of the request.
        """
        broker, topic, version = self.broker, self.topic, self.version
        request = {
            "max_wait_ms": 200,
            "session_id": self.id,
            "session_epoch": self.epoch if epoch is None else epoch,
            **fields,
        }
        if forget:
            name = await fetched_topic(broker, topic, version)
            request["forgotten_topics_data"] = [{**name, "partitions": list(forget)}]
        body = await fetch_fields(broker, topic, offsets.items(), version, **request)
        response = await self.leader.send("Fetch", self.version, **body)
        if epoch is None:
            self.epoch += 1
        return response


async def open_session(
    broker: Broker, topic: str, leader: Connection, offsets: Mapping[int, int]
) -> Session:
    """Open a session with some partitions.

    Raises:
        Skipped: the broker opens none, as KIP-227 allows.
    """
    session = Session(broker, topic, leader, broker.version("Fetch", 7))
    response = (await session.fetch(offsets)).expect(error_code="NONE")
    session.id = response["session_id"]
    if session.id == 0:
        raise Skipped("the broker opens no fetch session")
    return session


def returned(response: Response) -> Parts:
    """Return the partitions of a response with at most one topic. Raises Failed on an error."""
    response.expect(error_code="NONE")
    if not response["responses"]:
        return Parts(response, "responses")
    return parts(response.at("responses[0]"), "partitions", "partition_index")


def expect_partitions(response: Response, *partitions: int) -> Parts:
    """Return the partitions of a response. Raises Failed if they are others."""
    received = returned(response)
    if sorted(received) != sorted(partitions):
        raise response.failed(
            "responses", f"partitions {sorted(partitions)}", f"partitions {sorted(received)}"
        )
    return received
