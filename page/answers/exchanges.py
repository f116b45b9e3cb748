"""Exchanges: where they are from, which match, and what there is of each."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from barnabas.captures.kafka.columns import Summary
from barnabas.page.answers.common import Json


class Sides(TypedDict):
    """Of both, where there is any."""

    request: NotRequired[Json]
    response: NotRequired[Json]


class State(TypedDict):
    """Which numbers are held: from `first` up to, without, `end`. trouble: why no more come, and what
    could not be read."""

    first: int
    end: int
    over: bool
    trouble: str


class Source(State):
    """Where exchanges are from."""

    kind: Literal["live", "capture"]
    name: str
    keeps: int


class Found(State):
    """A line of the stream: runs of numbers that match, first and last of each; and where to go on."""

    runs: list[tuple[int, int]]
    after: int
    skipped: int


class Column(TypedDict):
    """What a filter can name."""

    name: str
    about: str


class Row(Summary):
    """A line of the list; `ts` is ISO 8601."""

    number: int
    details: str
    note: str


class Field(TypedDict):
    """Where the bytes of a field stand in a body, how they were read and how they are declared."""

    path: str
    type: str
    start: int
    end: int
    declared: str


class Body(TypedDict):
    """A request or a response; `hex` is base64 of its first bytes, null if they may have secrets."""

    value: Json
    reason: str
    size: int | None
    hex: str | None
    fields: list[Field]


class Altered(TypedDict):
    """Those that the proxy changed, as the other side has them."""

    request: NotRequired[Body]
    response: NotRequired[Body]


class Declared(TypedDict):
    """An API and one of its versions."""

    purpose: str
    versions: tuple[int, int]
    brought: list[str]


class Detail(Row):
    """One exchange; `altered` has the other form of a body that the proxy changed."""

    sasl: str
    declared: Declared | None
    packets: tuple[int, int]
    inside: Sides
    request: Body
    response: Body
    altered: Altered
