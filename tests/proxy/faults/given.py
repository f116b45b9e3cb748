"""What tests of single faults are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import pytest

from barnabas.proxy.connection.breakpoints import Waiting, oldest
from barnabas.proxy.faults import Act
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.specs import api
from barnabas.specs.frames import Direction
from tests.proxy.playbook import Actor, Stage, bytewise, request, response, whole


def message(
    name: str = "Heartbeat", direction: Direction = "request", version: int = 0, **body: Any
) -> Message:
    """A message of an API, its missing fields by default."""
    found = api(name)
    encoded = found.message(direction).codec(version).encode(body)
    head = (
        b"\0\0\0\x07" if direction == "response" else bytes((0, found.key, 0, version, 0, 0, 0, 7))
    )
    return Message(
        direction=direction,
        key=found.key,
        version=version,
        client_id="me",
        broker=1,
        connection=1,
        ordinal=0,
        group=None,
        size=len(head) + len(encoded),
        body=encoded,
        head=head,
        correlation_id=7,
    )


def only(act: Act, config: Any, roll: Roll) -> Any:
    """The one effect of a fault on just any message."""
    (effect,) = act(config, message(), roll)
    return effect


# examples

ALL = [1, 2, 3]
NONE: list[int] = []


class Fate(NamedTuple):
    """Correlation ids that reach the broker, and that the client gets; how it ends."""

    broker: list[int]
    client: list[int]
    end: str = "open"


PASSES: Final = Fate(ALL, ALL)
QUIET: Final = Fate(ALL, [2, 3])
"""All reaches the broker, which answers all but the first: that had acks=0."""


class Row(NamedTuple):
    """A fault's settings, and what becomes of three messages."""

    settings: str
    unacknowledged: Fate = QUIET
    """It is done to a Produce request with acks=0, behind which two Heartbeats follow."""
    request: Fate = PASSES
    """It is done to the first of three Heartbeat requests."""
    response: Fate = PASSES
    """It is done to the first of three Heartbeat responses."""


class Examples(NamedTuple):
    """What a fault's test file, as `EXAMPLES`, tells those that go over all faults."""

    settings: dict[str, Any]
    rows: Sequence[Row] = ()
    """What becomes of three messages; if it stands nowhere, all pass."""
    live: Sequence[str] = ()
    """Settings that suit a live run; if there are none, `settings`."""
    subject: Message | None = None
    """What it can be done to, if not to a Heartbeat."""
    about: tuple[str, str] = ("Heartbeat", "")
    """The same for a live run: API and direction, which may be any."""


# playbooks

slicings = pytest.mark.parametrize("chunks", [whole, bytewise])


def stage(do: str, match: str = "{api: Heartbeat, direction: request}", when: str = "{}") -> Actor:
    """A connection under one rule, `r`."""
    text = f"version: 1\nseed: 7\nrules:\n- {{name: r, match: {match}, when: {when}, do: {do}}}\n"
    return Stage(text).actor()


def halted(*actors: Actor, most: int = 100) -> list[Waiting]:
    """The messages that wait longest at breakpoints."""
    return oldest((actor.connection.breakpoints for actor in actors), most)


def ask(number: int) -> bytes:
    """A Heartbeat request."""
    return request("Heartbeat", number, group_id="g", generation_id=1, member_id="m")


def beat(number: int, error: int = 0) -> bytes:
    """A Heartbeat response."""
    return response("Heartbeat", number, error_code=error)


def produce(number: int, acks: int = 1, records: bytes = b"") -> bytes:
    """A Produce request for one partition."""
    partition = {"index": 0, "records": records}
    topics = [{"name": "t", "partition_data": [partition]}]
    return request("Produce", number, version=7, acks=acks, timeout_ms=10, topic_data=topics)
