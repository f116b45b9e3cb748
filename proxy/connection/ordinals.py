"""The ordinal of a connection among its client's to a broker: chance depends on it."""

from __future__ import annotations

import hashlib
from typing import Final

from barnabas.captures.kafka.context.memory import Memory

SHORT: Final = 64
"""The longest client id, in characters, that is a key itself."""

ClientKey = tuple[str | bytes | None, int | None]
"""A client id, see `short_client_id`, and a broker's id."""


class Ordinals:
    """The number of connections that each client made to each broker."""

    def __init__(self) -> None:
        self._counts: Memory[ClientKey, int] = Memory()

    def __call__(self, client_id: str | bytes | None, broker: int | None) -> int:
        """Return the ordinal of a new connection among that client's to that broker, from 0.

        Ordinals are exact for the last 100,000 pairs of client and broker. A forgotten pair starts again at
        0, in a rehearsal of the capture as in the live run.
        """
        number = self._counts.get((client_id, broker), 0)
        self._counts[client_id, broker] = number + 1
        return number


def short_client_id(client_id: str | None) -> str | bytes | None:
    """Return a key that distinguishes clients: the client id, or a hash of a long one (up to 32 KiB).

    >>> short_client_id("app"), len(short_client_id("x" * 30_000) or "")
    ('app', 16)
    """
    if client_id is None or len(client_id) <= SHORT:
        return client_id
    return hashlib.blake2b(client_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
