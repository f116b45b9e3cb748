"""Cut one direction of a TLS connection into records; after a gap, guess where a record begins.

Layout: RFC 8446, 5.1.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

CHANGE_CIPHER_SPEC: Final = 20
HANDSHAKE: Final = 22
APPLICATION_DATA: Final = 23

_LONGEST: Final = (1 << 14) + 2048
"""Bytes of the longest body (RFC 5246, 6.2.3; TLS 1.3 allows less)."""
_SHORTEST: Final = 21
"""Bytes of the shortest encrypted record: its header and a tag."""
_HEADER: Final = re.compile(rb"[\x14-\x17]\x03\x03[\x00-\x48]", re.DOTALL)


class Record(NamedTuple):
    """A record as it is on the wire."""

    header: bytes
    body: bytes

    @property
    def kind(self) -> int:
        """Return its content type; encrypted TLS 1.3 records all have the same."""
        return self.header[0]


class Records:
    r"""A parser of records, which stores at most the bytes of one incomplete record.

    >>> records = Records()
    >>> records.feed(b"\x17\x03\x03\0\5hel"); records.next()
    >>> records.feed(b"lo"); records.next()
    Record(header=b'\x17\x03\x03\x00\x05', body=b'hello')
    """

    def __init__(self) -> None:
        self.broken = False
        """Whether the stream has bytes that are not a record."""
        self.seeking = False
        """Whether the beginning of the next record is unknown: then `next` returns guesses until `confirm` is
        called."""
        self._bytes = bytearray()
        self._at = 0
        """Where the next record, or the guess, begins."""
        self._searched = 0
        """While `seeking`: no record begins before this, except in `_unfinished`."""
        self._unfinished: list[int] = []
        """Incomplete guesses, which may be right, and must not hide later records."""
        self._enough = 5
        self._rest = 0
        """Bytes to come of a record with a gap."""
        self._gap = 0
        """Bytes before `_bytes` in which records are missing."""
        self._destroyed = 0

    @property
    def missing(self) -> int:
        """Return how many records may be missing before the next one, at most."""
        return self._destroyed + (self._gap + self._at * self.seeking) // _SHORTEST

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        if self._rest:
            cut = min(self._rest, len(data))
            self._rest -= cut
            data = data[cut:]
        self._bytes += data

    def next(self) -> Record | None:
        """Return the next whole record, or a guess while `seeking`; None without one."""
        if len(self._bytes) - self._at < self._enough or self.broken:
            return None
        if self.seeking:
            return self._guess()
        start = self._at + 5
        if len(self._bytes) < start:
            self._wait(5)
            return None
        header = bytes(self._bytes[self._at : start])
        length = int.from_bytes(header[3:])
        if not (20 <= header[0] <= 24 and header[1] == 3 and length <= _LONGEST):
            self.broken = True
            return None
        if len(self._bytes) < start + length:
            self._wait(5 + length)
            return None
        record = Record(header, bytes(self._bytes[start : start + length]))
        self._at = start + length
        self._enough = 5
        return record

    def _wait(self, enough: int) -> None:
        del self._bytes[: self._at]
        self._at, self._enough = 0, enough

    def _whole(self, at: int) -> Record | None:
        """Return the record at an offset; None if it is incomplete."""
        start = at + 5
        end = start + int.from_bytes(self._bytes[at + 3 : start])
        if len(self._bytes) < max(start, end):
            return None
        return Record(bytes(self._bytes[at:start]), bytes(self._bytes[start:end]))

    def _guess(self) -> Record | None:
        """Return the next whole guess; None without one."""
        for at in self._unfinished:
            record = self._whole(at)
            if record is not None:
                self._at = at
                self._unfinished.remove(at)
                return record
        while (match := _HEADER.search(self._bytes, self._searched)) is not None:
            self._at, self._searched = match.start(), match.start() + 1
            record = self._whole(self._at)
            if record is not None:
                return record
            self._unfinished.append(self._at)
        self._searched = max(self._searched, len(self._bytes) - 3)
        passed = min((*self._unfinished, self._searched))
        del self._bytes[:passed]
        self._gap += passed
        self._at, self._searched = 0, self._searched - passed
        self._unfinished = [at - passed for at in self._unfinished]
        return None

    def confirm(self, record: Record) -> None:
        """Confirm a guess."""
        self._at += 5 + len(record.body)
        self.seeking = False
        self._searched, self._unfinished = 0, []
        self.none_missing()

    def none_missing(self) -> None:
        """Note that the number of the last record is known."""
        self._gap = self._destroyed = 0

    def lose(self, count: int) -> None:
        """Note missing bytes before the next ones."""
        buffered = len(self._bytes) - self._at
        rest = self._rest or (self._enough - buffered if buffered >= 5 else 0)
        if not self.seeking and count <= rest:
            # only this record is lost
            self._destroyed += not self._rest
            self._rest = rest - count
        else:
            self._gap += (len(self._bytes) if self.seeking else buffered) + count
            self._rest, self.seeking = 0, True
            self._searched, self._unfinished = 0, []
        self._bytes.clear()
        self._at, self._enough = 0, 5
