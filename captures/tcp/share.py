"""Divide the conversations of a capture into shares, which readers can read independently."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from barnabas.captures.host_port import Endpoint


class Share(NamedTuple):
    """The share of a capture that one of `readers` reads: each conversation is in one share."""

    number: int
    """From 0."""
    readers: int

    def has(self, ends: tuple[Endpoint, Endpoint], connection: int | None) -> bool:
        """Return whether a conversation is in this share.

        Args:
            ends: Its ends, in any order.
            connection: The number of its connection through a proxy, whose two flows are in one share.
        """
        if connection is None:
            connection = zlib.crc32(repr(sorted(ends)).encode())
        return connection % self.readers == self.number


class ShareFlows(NamedTuple):
    """The share that a reader reads, and the numbers of its flows in the order in which they open."""

    share: Share
    numbers: Iterator[int]
