"""A case: what is sent, and how it came about.

What is sent is bytes, made before anything runs. Where a session must put in what only the live side
knows (a topic id, a producer id), a case says so: `Live` places of fixed size, filled in before sending.
How it came about (`Recipe`) is kept beside it: shrinking makes smaller cases of a recipe, not of bytes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, NamedTuple

from barnabas.specs.frames import Direction

Role = Literal["broker", "client", "decoder"]
"""Who gets a case. Brokers and decoders get requests, clients get responses; decoders get both."""

Delivery = Literal["whole", "bytewise", "burst", "half_open"]
"""How it is written: in one write, a byte a write, all at once with what follows, and then half-closed."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A valid message that mutations start from.

    frame: header and body without the size in front. origin: where it is from, e.g. "golden:produce-9",
    "generated:412", "capture:a.pcapng#17", "session:join" (the valid one of that step).
    """

    key: int
    version: int
    direction: Direction
    frame: bytes
    origin: str


@functools.lru_cache(maxsize=1 << 14)
def session_of(origin: str) -> str:
    """The session that a seed of an origin belongs behind; "" for none.

    >>> session_of("session:join:3"), session_of("golden:produce-9")
    ('join', '')
    """
    return origin.split(":", 2)[1] if origin.startswith("session:") else ""


@functools.lru_cache(maxsize=1 << 14)
def shape_of(origin: str) -> str:
    """Which of several answers of a version a seed is; "" for what has no others.

    >>> shape_of("answering:Fetch-11:single"), shape_of("answering:Fetch-11"), shape_of("golden:a:b")
    ('single', '', '')
    """
    source, _, name = origin.partition(":")
    return name.partition(":")[2] if source == "answering" else ""


class Change(NamedTuple):
    """One mutation: the mutator's name, the dotted path it was applied to ("" for the frame as a whole,
    with indices, `topics[0].name`), the number its draws were made from, and what it did in words."""

    mutator: str
    path: str
    draws: int
    detail: str = ""


class Recipe(NamedTuple):
    """How a case is made: changes in order, applied to a seed, at the end of a session (a name in
    barnabas.fuzz.sessions.registry.SESSIONS; "" for none)."""

    seed: Seed
    changes: tuple[Change, ...]
    session: str = ""


class Live(NamedTuple):
    """A place in a chunk that a session fills in: so many bytes at an offset, by a name that it knows.

    Names: "correlation_id", those of barnabas.fuzz.sessions.live.LIVE, and "crc" (of the record batch that
    begins at `offset` - 17: always last).
    """

    chunk: int
    offset: int
    size: int
    name: str


class Case(NamedTuple):
    """What is sent: chunks as they go on the wire, sizes included. `number` is its place in a campaign."""

    number: int
    recipe: Recipe
    chunks: tuple[bytes, ...]
    live: tuple[Live, ...] = ()
    delivery: Delivery = "whole"
