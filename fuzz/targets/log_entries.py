"""Entries of a growing log, with their stack traces, and the connection or request that each names.

Entries begin as slf4j-simple and log4j print them in brokers (peers/apache/jvm.py). Other lines belong to the
entry before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.fuzz.observations.java_stacks import ENDS_ITSELF, exceptions_in

ENTRY_LIMIT: Final = 16 << 10
"""Characters of an entry that are kept, approximately."""

LINE_KEPT: Final = 8 << 10
"""Characters of a line that are kept: a stack trace may follow a line with a whole request in it."""

ALIKE: Final = 16
"""Entries of one look, of one shape and request, that are kept: a case may log thousands."""

LINE_LIMIT: Final = 1 << 10
"""Characters of a line that are matched: logs may have whole requests with long names."""

READ_LIMIT: Final = 8 << 20
"""Bytes of a log that are read at once; further ones are skipped."""

_BEGINS: Final = re.compile(
    r"\[[^\]\n]*\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) |java\.lang\.OutOfMemoryError"
    r"|Terminating due to|Exception in thread |# A fatal error"
)
_CONNECTION: Final = re.compile(
    r"(?<![\w.:])[\w.:\[\]]{1,64}:\d{1,5}-[\w.:\[\]]{1,64}:(\d{1,5})-\d{1,9}(?:-\d{1,9})?\b"
)
"""Bounded, because a request's names may have 32 KiB of anything and are in the log unchanged."""
_VARIABLE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|0x[0-9a-fA-F]+|(?<![\w./-])(?=[\w./-]*\d)[\w.:/-]+"
)
_CORRELATION: Final = re.compile(r"correlationId=(-?\d+)")


class LoggedEntry(NamedTuple):
    """A log entry, or a piece of one, and the cases that may have caused it.

    near: the numbers of these cases, the nearest first.
    """

    entry: str
    near: tuple[int, ...] = ()


class LogFollower:
    """Reads the entries that a file gains. An incomplete entry waits for the next look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = path.stat().st_size if path.exists() else 0
        self._open = ""

    def entries(self) -> tuple[str, ...]:
        """Return the entries since the last call."""
        try:
            if self._path.stat().st_size <= self._at:  # the usual case, which must be fast
                return ()
            with self._path.open("rb") as log:
                size = log.seek(0, 2)
                if size - self._at > READ_LIMIT:
                    self._at = size - READ_LIMIT
                log.seek(self._at)
                data = log.read(READ_LIMIT)
        except OSError:
            data = b""
        end = data.rfind(b"\n") + 1
        self._at += end
        return split(data[:end].decode(errors="replace"))


def split(text: str) -> tuple[str, ...]:
    r"""Split a text into whole entries.

    >>> split("[main] ERROR a - b\njava.lang.Error: x\n\tat y\n[main] WARN c - d\n")
    ('[main] ERROR a - b\njava.lang.Error: x\n\tat y', '[main] WARN c - d')
    """
    entries: list[str] = []
    for line in map(_cut, text.splitlines()):
        if _BEGINS.match(line) or not entries:
            entries.append(line)
        elif len(entries[-1]) < ENTRY_LIMIT:
            entries[-1] += "\n" + line
    return tuple(entries)


def _cut(line: str) -> str:
    """Return a line, or its beginning and the number of further characters."""
    more = len(line) - LINE_KEPT
    return line if more <= 0 else f"{line[:LINE_KEPT]}… and {more} characters more"


def join_pieces(pieces: Iterable[LoggedEntry]) -> list[LoggedEntry]:
    r"""Join pieces of entries that were read while the log was written.

    >>> texts = "[main] ERROR a - b", "java.lang.Error: x", "[main] WARN c - d"
    >>> join_pieces(LoggedEntry(text, (1,)) for text in texts)[0]
    LoggedEntry(entry='[main] ERROR a - b\njava.lang.Error: x', near=(1,))
    """
    entries: list[LoggedEntry] = []
    for piece in pieces:
        if not entries or _BEGINS.match(piece.entry):
            entries.append(piece)
        elif len(entries[-1].entry) < ENTRY_LIMIT:
            before = entries[-1]
            entries[-1] = LoggedEntry(f"{before.entry}\n{piece.entry}", before.near)
    return entries


def without_surplus(entries: Iterable[LoggedEntry]) -> list[LoggedEntry]:
    """Return the entries, in order, without surplus ones of one shape and request.

    The last retained one reports how many were dropped.
    """
    retained: list[LoggedEntry] = []
    counts: Counter[tuple[object, ...]] = Counter()
    last: dict[tuple[object, ...], int] = {}
    kind: tuple[object, ...]
    for logged in entries:
        kind = (shape(logged.entry), *connection_of(logged.entry))
        counts[kind] += 1
        if counts[kind] <= ALIKE:
            last[kind] = len(retained)
            retained.append(logged)
    for kind, index in last.items():
        if counts[kind] > ALIKE:
            entry = f"{retained[index].entry}\n… and {counts[kind] - ALIKE} entries more like it"
            retained[index] = retained[index]._replace(entry=entry)
    return retained


def connection_of(entry: str) -> tuple[int | None, int | None]:
    """Return the client port and the correlation id that an entry names; None for each that it does not name.

    >>> connection_of("Closing socket for 127.0.0.1:9092-127.0.0.1:41234-7 because of error")
    (41234, None)
    >>> connection_of("handling RequestHeader(correlationId=5) connectionId='127.0.0.1:9-127.0.0.1:8-0-1'")
    (8, 5)
    """
    connection = _CONNECTION.search(entry)
    correlation = _CORRELATION.search(entry)
    return (
        int(connection[1]) if connection else None,
        int(correlation[1]) if correlation else None,
    )


@lru_cache(maxsize=1024)
def shape(entry: str) -> str:
    """Return the shape by which findings of an entry are told apart.

    The shape is its exceptions, if they have frames, else its template: the words around an exception may
    name another topic each time.
    """
    chain = exceptions_in(entry)
    if chain and chain[-1].frames:
        return "\n".join(" ".join(exception.signature) for exception in chain)
    return template(entry)


def reports_error(entry: str) -> bool:
    """Return whether an entry reports an error that an oracle may judge."""
    return bool(exceptions_in(entry) or ENDS_ITSELF.search(entry)) or entry.startswith("Traceback ")


def template(entry: str) -> str:
    """Return what is equal in entries of the same kind: no numbers, ids or quoted text.

    The first lines of the stack and the exceptions' signatures are included.
    """
    lines = entry.splitlines()
    stack = [line for line in lines[1:] if line.startswith("\tat ")][:6]
    head = _VARIABLE.sub("#", lines[0][:LINE_LIMIT])[:200]
    signatures = (" ".join(exception.signature) for exception in exceptions_in(entry))
    return "\n".join((head, *signatures, *(re.sub(r"\d+", "#", line) for line in stack)))
