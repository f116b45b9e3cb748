"""Responses about exchanges: their origin, numbers of matching ones, rows and details."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from barnabas.captures.kafka.columns import Summary
from barnabas.page.answers.common import Json


class ByDirection(TypedDict):
    """Values of the request and of the response, where there are any."""

    request: NotRequired[Json]
    response: NotRequired[Json]


class State(TypedDict):
    """The numbers of exchanges that are held: from `first` until before `end`.

    `trouble`: why no more exchanges arrive, and what could not be read.
    """

    first: int
    end: int
    over: bool
    trouble: str


class Source(State):
    """The capture or the proxy that the exchanges are from."""

    kind: Literal["live", "capture"]
    name: str
    files: NotRequired[list[str]]
    keeps: int
    plain: str
    """A regular expression: a filter that matches it is plain text, no condition."""


class StreamLine(State):
    """A line of the stream: the first and last number of each matching run, and where to continue."""

    runs: list[tuple[int, int]]
    after: int
    skipped: int


class RetryNumbers(TypedDict):
    """The number of each retry and of its first attempt, and where to continue."""

    retries: list[tuple[int, int]]
    after: int


class Column(TypedDict):
    """A name that a filter may use."""

    name: str
    about: str


class Row(Summary):
    """A row of the list; `ts` is ISO 8601. `normal`: its error is part of normal operation."""

    number: int
    details: str
    note: str
    normal: bool
    topics: list[str]


class Bookmark(TypedDict):
    """A bookmark on an exchange that is held; an empty note is a bookmark alone."""

    number: int
    api: str
    note: str


class BookmarkCount(TypedDict):
    """The number of bookmarks after a change."""

    bookmarks: int


class Field(TypedDict):
    """The bytes of a field in a body, how they were decoded, its declaration, and the name of its error."""

    path: str
    type: str
    start: int
    end: int
    declared: str
    error: str


class Body(TypedDict):
    """A request or a response; `hex` is base64 of its first bytes, null if they may have secrets."""

    value: Json
    reason: str
    size: int | None
    hex: str | None
    fields: list[Field]


class ChangedBodies(TypedDict):
    """The bodies that the proxy changed, in the broker's form."""

    request: NotRequired[Body]
    response: NotRequired[Body]


class ApiDeclaration(TypedDict):
    """An API and one of its versions."""

    purpose: str
    versions: tuple[int, int]
    brought: list[str]


class Detail(Row):
    """An exchange with all its values; `altered` has the broker's form of a body that the proxy changed."""

    sasl: str
    declared: ApiDeclaration | None
    packets: tuple[int, int]
    inside: ByDirection
    request: Body
    response: Body
    altered: ChangedBodies
