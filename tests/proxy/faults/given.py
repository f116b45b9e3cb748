"""What tests of single faults are given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import yaml

from barnabas.proxy.connection.breakpoints import HaltedMessage, oldest
from barnabas.proxy.effects import Become
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.specs import api
from barnabas.specs.frames import Direction
from tests.proxy.frames import heartbeat_request, heartbeat_response, request
from tests.proxy.playbook import Actor, Stage


def message(
    name: str = "Heartbeat", direction: Direction = "request", version: int = 0, **body: Any
) -> Message:
    """Return a message of an API, its missing fields by default."""
    found = api(name)
    encoded = found.message(direction).codec(version).encode(body)
    head = (
        b"\0\0\0\x07" if direction == "response" else bytes((0, found.key, 0, version, 0, 0, 0, 7))
    )
    return Message(
        direction=direction, key=found.key, version=version, client_id="me", broker=1, connection=1,
        ordinal=0, group=None, size=len(head) + len(encoded), body=encoded, head=head, correlation_id=7,
    )  # fmt: skip


def produced(*sets: bytes | None) -> Message:
    """Return a Produce request with a record set for each of some partitions."""
    data = [{"index": place, "records": each} for place, each in enumerate(sets)]
    topics = [{"name": "t", "partition_data": data}]
    return message("Produce", version=7, acks=1, timeout_ms=10, topic_data=topics)


def configured(name: str, settings: Any) -> Any:
    """Return the settings of a fault, given as JSON or as YAML text, as its model has them."""
    model = next(model for each, model, *_ in FAULTS if each == name)
    return model.model_validate(yaml.safe_load(settings) if isinstance(settings, str) else settings)


def effect_of(name: str, settings: Any, subject: Message | None = None, roll: Roll = float) -> Any:
    """Return the one effect of a fault on a message, or on an arbitrary one."""
    _, _, act, *states = next(fault for fault in FAULTS if fault[0] == name)
    config = configured(name, settings)
    (effect,) = act(config, subject or message(), roll, *(state.new() for state in states))
    return effect


def fields_after(name: str, settings: Any, subject: Message, roll: Roll = float) -> dict[str, Any]:
    """Return the fields of a message after a fault."""
    effect = effect_of(name, settings, subject, roll)
    assert isinstance(effect, Become)
    return api(subject.key).message(subject.direction).codec(subject.version).decode(effect.body)


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
CLOSED: Final = Fate(NONE, NONE, "closed")
UNANSWERED: Final = Fate(ALL, NONE, "closed")


class Row(NamedTuple):
    """A fault's settings, and what becomes of three messages."""

    settings: str
    unacknowledged: Fate = QUIET
    """It is done to a Produce request with acks=0, behind which two Heartbeats follow."""
    request: Fate = PASSES
    """It is done to the first of three Heartbeat requests."""
    response: Fate = PASSES
    """It is done to the first of three Heartbeat responses."""


class Play(NamedTuple):
    """A playbook as text, see `test_plays`."""

    shows: str
    do: str
    """Settings of the fault, or a list of faults."""
    script: str
    when: str = "{}"
    match: str = "{api: Heartbeat, direction: request}"


class Examples(NamedTuple):
    """The examples of a fault, which its test file has as `EXAMPLES` for tests of all faults."""

    settings: dict[str, Any]
    rows: Sequence[Row] = ()
    """What becomes of three messages; if it stands nowhere, all pass."""
    live: Sequence[str] = ()
    """Settings that suit a live run; if there are none, `settings`."""
    subject: Message | None = None
    """What it can be done to, if not to a Heartbeat."""
    about: tuple[str, str] = ("Heartbeat", "")
    """The same for a live run: API and direction, which may be any."""
    plays: Sequence[Play] = ()
    """What comes of some settings, step by step."""
    refused: Sequence[tuple[Any, str]] = ()
    """Settings that a rule about these messages can't have, and what is said."""
    unable: Sequence[tuple[Any, Message, str]] = ()
    """Settings, a message to which it can't be done, and why."""
    says: Sequence[tuple[Any, str, Any]] = ()
    """Settings, and what they say of themselves: `no_op`, `across`, `paths` and so on."""
    applies: Sequence[tuple[Any, tuple[str, Direction, int], bool]] = ()
    """Settings, a kind of message, and whether it can be done to such a one."""


# playbooks


def stage(do: str, match: str = "{api: Heartbeat, direction: request}", when: str = "{}") -> Actor:
    """Return a connection under one rule, `r`."""
    text = f"version: 1\nseed: 7\nrules:\n- {{name: r, match: {match}, when: {when}, do: {do}}}\n"
    return Stage(text).actor()


def halted(*actors: Actor, most: int = 100) -> list[HaltedMessage]:
    """Return the messages that wait longest at breakpoints."""
    return oldest((actor.connection.breakpoints for actor in actors), most)


def requests(*numbers: int) -> bytes:
    """Heartbeat requests with these correlation ids."""
    return b"".join(map(heartbeat_request, numbers))


def responses(*numbers: int) -> bytes:
    """Heartbeat responses with these correlation ids."""
    return b"".join(map(heartbeat_response, numbers))


def produce(number: int, acks: int = 1, records: bytes = b"") -> bytes:
    """Return a Produce request for one partition."""
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": records}]}]
    return request("Produce", number, version=7, acks=acks, timeout_ms=10, topic_data=topics)


def rule_text(name: str, settings: Any, match: str) -> str:
    """Return a scenario whose one rule does this."""
    written = settings if isinstance(settings, str) else json.dumps(settings)
    return f"version: 1\nrules:\n- {{name: r, match: {match}, do: {{{name}: {written}}}}}\n"
