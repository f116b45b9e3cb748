"""Which of a client's connections to a broker one is: chance goes by that, and rules may name it."""

from __future__ import annotations

import hashlib
from typing import Final

from barnabas.captures.kafka.context.memory import Memory

SHORT: Final = 64
"""Characters of a client id that is kept as it is where clients are told apart."""

Who = tuple[str | bytes | None, int | None]
"""A client id, see `short_client_id`, and a broker's id."""


class Ordinals:
    """How many connections each client made to each broker."""

    def __init__(self) -> None:
        self._counts: Memory[Who, int] = Memory()

    def __call__(self, client_id: str | bytes | None, broker: int | None) -> int:
        """The number of a new connection among that client's to that broker, from 0.

        Exact for the last 100,000 clients, a client counted once for each broker: one that was forgotten
        begins anew, in a rehearsal of the capture as it did live.
        """
        number = self._counts.get((client_id, broker), 0)
        self._counts[client_id, broker] = number + 1
        return number


def short_client_id(client_id: str | None) -> str | bytes | None:
    """A client id to tell clients apart by: itself, or of a long one a hash (they may have 32 KiB).

    >>> short_client_id("app"), len(short_client_id("x" * 30_000) or "")
    ('app', 16)
    """
    if client_id is None or len(client_id) <= SHORT:
        return client_id
    return hashlib.blake2b(client_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
