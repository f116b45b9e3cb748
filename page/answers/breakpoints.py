"""Responses about messages that wait at a breakpoint."""

from __future__ import annotations

from typing_extensions import TypedDict

from barnabas.page.answers.common import Json, Side


class Timeout(TypedDict):
    """The time that the client waits for a response, and the request's field that sets it."""

    field: str
    ms: int
    left_ms: float


class Waiting(TypedDict):
    """A message that waits at a breakpoint; `since` is ISO 8601."""

    id: str
    rule: str
    connection: int
    client_address: str
    client_id: str | None
    broker: int | None
    direction: Side
    api: str
    key: int
    version: int
    correlation_id: int
    size: int
    since: str
    waited_ms: float
    left_ms: float
    client_timeout: Timeout | None


class Record(TypedDict):
    """A record.

    `base64`: key, value and values of headers are base64. `timestamp`: ms since the epoch, or -1.
    """

    offset: int
    timestamp: int
    headers: list[tuple[str, str | None]]
    key: str | None
    value: str | None
    base64: bool


class WaitingMessage(Waiting):
    """A message that waits at a breakpoint, with its body, field types, and records by path."""

    body: Json
    types: dict[str, str]
    records: dict[str, list[Record]]
    problem: str
    hex: str | None
    masked: bool


class Decision(TypedDict):
    """The decision on a message that waited, and a scenario that repeats it."""

    id: str
    what: list[str]
    scenario: str | None
