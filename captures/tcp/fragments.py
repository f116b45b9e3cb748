"""Reassemble IP datagrams from fragments (RFC 791, RFC 8200 4.5), in bounded memory.

Where fragments overlap, the first one wins. When too many bytes wait, the oldest incomplete datagram is
dropped.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

WAITING: Final = 16 << 20
"""Most bytes of fragments that wait for others."""

LONGEST: Final = 65_535
"""Bytes of the longest datagram."""

_COST: Final = 64
"""Bytes that each fragment counts in addition to its data, since there may be many empty ones."""


@dataclass(slots=True)
class _Datagram:
    pieces: dict[int, bytes] = field(default_factory=dict)
    """Fragment data by offset."""
    size: int | None = None
    """Known once the last fragment has arrived."""
    cost: int = 0


@dataclass(slots=True)
class Fragments:
    """The datagrams whose fragments have arrived in part."""

    incomplete: int = 0
    """Fragments that did not complete a datagram."""
    given_up: int = 0
    """Datagrams that were dropped incomplete."""
    _datagrams: dict[Hashable, _Datagram] = field(default_factory=dict)
    _cost: int = 0

    def add(self, key: Hashable, offset: int, more: bool, data: bytes) -> bytes | None:
        """Add a fragment, and return the datagram if it is complete now.

        Args:
            key: Identifies the datagram of the fragment.
            offset: Offset of the data in the datagram.
            more: Whether more fragments follow.
            data: The fragment's data.

        >>> fragments = Fragments()
        >>> fragments.add(7, 8, False, b"end"), fragments.add(7, 0, True, b"12345678")
        (None, b'12345678end')
        """
        if offset + len(data) > LONGEST:
            return None
        datagram = self._datagrams.setdefault(key, _Datagram())
        if offset not in datagram.pieces or len(data) > len(datagram.pieces[offset]):
            present = len(datagram.pieces.get(offset, b""))
            datagram.pieces[offset] = datagram.pieces.get(offset, b"") + data[present:]
            cost = len(data) - present + _COST
            datagram.cost += cost
            self._cost += cost
        if not more and datagram.size is None:
            datagram.size = offset + len(data)
        whole = _joined(datagram)
        if whole is None:
            self.incomplete += 1
        else:
            self._forget(key)
        while self._cost > WAITING:
            self._forget(next(iter(self._datagrams)))
            self.given_up += 1
        return whole

    def end(self) -> None:
        """Drop all incomplete datagrams at the end of the capture."""
        self.given_up += len(self._datagrams)
        self._datagrams.clear()
        self._cost = 0

    def _forget(self, key: Hashable) -> None:
        self._cost -= self._datagrams.pop(key).cost


def _joined(datagram: _Datagram) -> bytes | None:
    if datagram.size is None:
        return None
    whole = bytearray()
    for offset, piece in sorted(datagram.pieces.items()):
        if offset > len(whole):
            return None
        whole += piece[len(whole) - offset :]
    return bytes(whole[: datagram.size]) if len(whole) >= datagram.size else None
