"""A case, the recipe that makes it, and the seed message that the recipe starts from.

A case's bytes are made before anything runs. Where a session must fill in what only the live broker knows (a
topic id, a producer id), the case lists `Live` fields of fixed size.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, NamedTuple

from barnabas.specs.frames import Direction

Role = Literal["broker", "client", "decoder"]
"""The kind of a target. Brokers and decoders get requests, clients get responses; decoders get both."""

Delivery = Literal["whole", "bytewise", "burst", "half_open"]
"""How a case is written: in one write, a byte a write, together with what follows, or then half-closed."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A valid message that mutations start from.

    Attributes:
        key: The API key.
        version: The version of the API.
        direction: Request or response.
        frame: Header and body, without the size.
        origin: The source, such as "golden:produce-9", "generated:412", "capture:a.pcapng#17" or
            "session:join" (the valid message of that session).
    """

    key: int
    version: int
    direction: Direction
    frame: bytes
    origin: str


@functools.lru_cache(maxsize=1 << 14)
def session_of(origin: str) -> str:
    """Return the session that a seed of an origin belongs to; "" for none.

    >>> session_of("session:join:3"), session_of("golden:produce-9")
    ('join', '')
    """
    return origin.split(":", 2)[1] if origin.startswith("session:") else ""


@functools.lru_cache(maxsize=1 << 14)
def shape_of(origin: str) -> str:
    """Return the shape of a response that a client's seed has; "" for the plain response.

    >>> shape_of("answering:Fetch-11:single"), shape_of("answering:Fetch-11"), shape_of("golden:a:b")
    ('single', '', '')
    """
    source, _, name = origin.partition(":")
    return name.partition(":")[2] if source == "answering" else ""


class Change(NamedTuple):
    """One mutation of a message.

    Attributes:
        mutator: The mutator's name.
        path: The field's path with indices, `topics[0].name`; "" for the whole frame.
        draws: The number that the mutator's random draws are made from.
        detail: A description of the change.
    """

    mutator: str
    path: str
    draws: int
    detail: str = ""


class Recipe(NamedTuple):
    """The steps that make a case: changes in order, applied to a seed, after a session.

    Attributes:
        seed: The valid message.
        changes: The mutations, in order.
        session: A name in barnabas.fuzz.sessions.registry.SESSIONS; "" for none.
    """

    seed: Seed
    changes: tuple[Change, ...]
    session: str = ""


class Live(NamedTuple):
    """A field of a chunk that a session fills in before the case is sent.

    Attributes:
        chunk: The index of the chunk.
        offset: The byte offset in the chunk.
        size: The size in bytes.
        name: "correlation_id", a name of barnabas.fuzz.sessions.live_values.LIVE, or "crc" (of the record
            batch that begins at `offset` - 17; always last).
    """

    chunk: int
    offset: int
    size: int
    name: str


class Case(NamedTuple):
    """One input of a campaign: chunks as they are written to the connection, sizes included.

    Attributes:
        number: The case's index in the campaign.
        recipe: How the case was made.
        chunks: The bytes of each write.
        live: The fields that a session fills in.
        delivery: How the chunks are written.
    """

    number: int
    recipe: Recipe
    chunks: tuple[bytes, ...]
    live: tuple[Live, ...] = ()
    delivery: Delivery = "whole"
