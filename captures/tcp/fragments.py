"""IP datagrams out of their fragments (RFC 791, RFC 8200 4.5), in bounded memory.

Where fragments overlap, what came first stays. A datagram of which something is missing is given up
when more has come than may wait.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

WAITING: Final = 16 << 20
"""Bytes of fragments that wait for others."""

LONGEST: Final = 65_535
"""Bytes of a datagram at most."""

_COST: Final = 64
"""What a fragment counts beside its bytes: there may be many empty ones."""


@dataclass(slots=True)
class _Datagram:
    pieces: dict[int, bytes] = field(default_factory=dict)
    """By offset."""
    size: int | None = None
    """Known from the last fragment."""
    cost: int = 0


@dataclass(slots=True)
class Fragments:
    """Datagrams of which some fragments have come."""

    kept: int = 0
    """Fragments that did not make a datagram whole."""
    given_up: int = 0
    """Datagrams of which something never came."""
    _datagrams: dict[Hashable, _Datagram] = field(default_factory=dict)
    _cost: int = 0

    def add(self, key: Hashable, offset: int, more: bool, data: bytes) -> bytes | None:
        """The whole datagram if this fragment was its last missing one.

        `key` is what its fragments have in common, `more` whether others stand behind this one.

        >>> fragments = Fragments()
        >>> fragments.add(7, 8, False, b"end"), fragments.add(7, 0, True, b"12345678")
        (None, b'12345678end')
        """
        if offset + len(data) > LONGEST:
            return None
        datagram = self._datagrams.setdefault(key, _Datagram())
        if offset not in datagram.pieces or len(data) > len(datagram.pieces[offset]):
            known = len(datagram.pieces.get(offset, b""))
            datagram.pieces[offset] = datagram.pieces.get(offset, b"") + data[known:]
            cost = len(data) - known + _COST
            datagram.cost += cost
            self._cost += cost
        if not more and datagram.size is None:
            datagram.size = offset + len(data)
        whole = _joined(datagram)
        if whole is None:
            self.kept += 1
        else:
            self._forget(key)
        while self._cost > WAITING:
            self._forget(next(iter(self._datagrams)))
            self.given_up += 1
        return whole

    def end(self) -> None:
        """No more will come."""
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
