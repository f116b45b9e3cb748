"""A log as it grows: whole entries with their stack traces, and whom each is about.

Entries begin as slf4j-simple and log4j print them in brokers (peers/apache/jvm.py); whatever begins
otherwise belongs to the one before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.fuzz.observations.java_exceptions import ENDS_ITSELF, raised

ENTRY_LIMIT: Final = 16 << 10
"""Characters of an entry that are kept, about."""

LINE_KEPT: Final = 8 << 10
"""And of a line: behind one with a whole request in it the stack trace comes."""

ALIKE: Final = 16
"""Entries of one look that are kept of those that say the same of one request: a case may log thousands."""

LINE_LIMIT: Final = 1 << 10
"""Characters of a line that are looked at: requests stand in logs as they are, with long names."""

READ_LIMIT: Final = 8 << 20
"""Bytes of a log that are read at once; what is more is passed over."""

_BEGINS: Final = re.compile(
    r"\[[^\]\n]*\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) |java\.lang\.OutOfMemoryError"
    r"|Terminating due to|Exception in thread |# A fatal error"
)
_CONNECTION: Final = re.compile(
    r"(?<![\w.:])[\w.:\[\]]{1,64}:\d{1,5}-[\w.:\[\]]{1,64}:(\d{1,5})-\d{1,9}(?:-\d{1,9})?\b"
)
"""Bounded: a request's names may be 32 KiB of anything, and are in the log as they came."""
_VARIABLE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|0x[0-9a-fA-F]+|(?<![\w./-])(?=[\w./-]*\d)[\w.:/-]+"
)
_CORRELATION: Final = re.compile(r"correlationId=(-?\d+)")


class Logged(NamedTuple):
    """An entry of the log, or a piece of one, and the numbers of the cases that may be behind it, the nearest
    first."""

    entry: str
    near: tuple[int, ...] = ()


class LogFollower:
    """Entries that a file gained, in order. One that is still growing waits for the next look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = path.stat().st_size if path.exists() else 0
        self._open = ""

    def entries(self) -> tuple[str, ...]:
        """What came since the last call."""
        try:
            if self._path.stat().st_size <= self._at:  # the usual, and asked all the time
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
    r"""Whole entries of a text.

    >>> split("[main] ERROR a - b\njava.lang.Error: x\n\tat y\n[main] WARN c - d\n")
    ('[main] ERROR a - b\njava.lang.Error: x\n\tat y', '[main] WARN c - d')
    """
    found: list[str] = []
    for line in map(_cut, text.splitlines()):
        if _BEGINS.match(line) or not found:
            found.append(line)
        elif len(found[-1]) < ENTRY_LIMIT:
            found[-1] += "\n" + line
    return tuple(found)


def _cut(line: str) -> str:
    """A line, or its beginning and how much of it there is more."""
    more = len(line) - LINE_KEPT
    return line if more <= 0 else f"{line[:LINE_KEPT]}… and {more} characters more"


def whole(pieces: Iterable[Logged]) -> list[Logged]:
    r"""Entries out of what was read while the log was written.

    >>> pieces = Logged("[main] ERROR a - b", (1,)), Logged("java.lang.Error: x"), Logged("[main] WARN c - d")
    >>> whole(pieces)[0]
    Logged(entry='[main] ERROR a - b\njava.lang.Error: x', near=(1,))
    """
    found: list[Logged] = []
    for piece in pieces:
        if not found or _BEGINS.match(piece.entry):
            found.append(piece)
        elif len(found[-1].entry) < ENTRY_LIMIT:
            before = found[-1]
            found[-1] = Logged(f"{before.entry}\n{piece.entry}", before.near)
    return found


def fewer(entries: Iterable[Logged]) -> list[Logged]:
    """Entries, in order, without those that others say often enough; the last of these says how many."""
    found: list[Logged] = []
    counts: Counter[tuple[object, ...]] = Counter()
    last: dict[tuple[object, ...], int] = {}
    kind: tuple[object, ...]
    for one in entries:
        kind = (shape(one.entry), *about(one.entry))
        counts[kind] += 1
        if counts[kind] <= ALIKE:
            last[kind] = len(found)
            found.append(one)
    for kind, place in last.items():
        if counts[kind] > ALIKE:
            entry = f"{found[place].entry}\n… and {counts[kind] - ALIKE} entries more like it"
            found[place] = found[place]._replace(entry=entry)
    return found


def about(entry: str) -> tuple[int | None, int | None]:
    """The client's port in the id of the connection that an entry is about, and the correlation id of
    the request; None for what it does not name.

    >>> about("Closing socket for 127.0.0.1:9092-127.0.0.1:41234-7 because of error")
    (41234, None)
    >>> about("handling request RequestHeader(correlationId=5) connectionId='127.0.0.1:9-127.0.0.1:8-0-1'")
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
    """What findings of an entry are told by: its exceptions, if they say where; else its template. Names may
    stand in the words around them, of each topic another one."""
    chain = raised(entry)
    if chain and chain[-1].frames:
        return "\n".join(" ".join(one.signature) for one in chain)
    return template(entry)


def tells(entry: str) -> bool:
    """Whether it tells of an error that an oracle may judge."""
    return bool(raised(entry) or ENDS_ITSELF.search(entry)) or entry.startswith("Traceback ")


def template(entry: str) -> str:
    """What stays of an entry when another case says it: no numbers, ids or text in quotes; the first
    lines of its stack, and all that oracles tell exceptions by."""
    lines = entry.splitlines()
    stack = [line for line in lines[1:] if line.startswith("\tat ")][:6]
    head = _VARIABLE.sub("#", lines[0][:LINE_LIMIT])[:200]
    signatures = (" ".join(one.signature) for one in raised(entry))
    return "\n".join((head, *signatures, *(re.sub(r"\d+", "#", line) for line in stack)))
