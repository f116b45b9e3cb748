"""Reads a capture file: connections, and the bytes of their flows with what is said of them.

The two flows of a connection are joined by its number, which stands in the comment on their SYN. In
a file of others every TCP conversation is a connection with one flow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from captures import reassembly
from captures.pcapng import (
    CaptureError,
    Packet,
    Section,
    Statistics,
    Truncated,
    read_blocks,
)
from captures.reassembly import Reassembler
from captures.tcp import Endpoint, parse
from specs.frames import Direction

FORMAT: Final = 1
"""The newest version of the comments' layout that is understood."""

FlowName = Literal["arrived", "left"]


class Opened(NamedTuple):
    """A connection begins: both ends as ip:port, and what the writer said of it ({}: nothing)."""

    connection: int
    ts_ns: int
    client: str
    server: str
    comment: dict[str, Any]


class Chunk(NamedTuple):
    """Bytes of one direction, in order; the comments stand behind the last of them.

    `flow` is "arrived" for what came to the proxy, "left" for what it sent on otherwise. A comment
    of others is {"text": ...}. The data may be empty if there are comments.
    """

    connection: int
    flow: FlowName
    direction: Direction
    ts_ns: int
    data: bytes
    comments: tuple[dict[str, Any], ...]
    packet: int = 0
    """Number of the packet that brought it, from 1, as Wireshark numbers them."""


class Lost(NamedTuple):
    """Bytes that the file does not have, before the next chunk of this direction."""

    connection: int
    flow: FlowName
    direction: Direction
    ts_ns: int
    bytes: int


class Closed(NamedTuple):
    """A connection is closed."""

    connection: int
    ts_ns: int
    reset: bool


class Note(NamedTuple):
    """A remark on the whole capture: a scenario loaded again; what the writer lost."""

    ts_ns: int
    comment: dict[str, Any]


Event = Opened | Chunk | Lost | Closed


class CaptureReader:
    """The events of a capture file, from its beginning whenever it is iterated.

    Raises OSError, and CaptureError if it is no pcapng file; iterating may raise the same.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meta: dict[str, Any] = {}
        """What the first section says of itself; {} in a file of others."""
        self.notes: list[Note] = []
        """Remarks found so far."""
        self.foreign = 0
        """Packets found so far that hold no TCP segment."""
        self.truncated = False
        """Whether the file turned out to end within a block."""
        self.position = 0
        """Bytes read so far."""
        with path.open("rb") as file:
            first = next(read_blocks(file))
        if isinstance(first, Section):
            self.meta = _meta(first)

    def __iter__(self) -> Iterator[Event]:
        self.notes, self.foreign, self.truncated, self.position = [], 0, False, 0
        join = _Join(ours=bool(self.meta))
        number = 0
        with self.path.open("rb") as file:
            for block in read_blocks(file):
                if isinstance(block, Packet):
                    self.position = block.file_offset
                    number += 1
                    segment = parse(block.linktype, block.data)
                    if segment is None:
                        self.foreign += 1
                        continue
                    for event in join.flows.feed(segment, block.ts_ns, block.comments, number):
                        yield from join.event(event)
                elif isinstance(block, Statistics):
                    self.notes += [Note(block.ts_ns, _document(text)) for text in block.comments]
                elif isinstance(block, Section):
                    yield from join.end()
                    join = _Join(ours=bool(_meta(block)), base=join.highest)
                elif isinstance(block, Truncated):
                    self.truncated = True
            self.position = file.tell()
        yield from join.end()


def read(path: Path) -> CaptureReader:
    """A capture file to iterate over. Raises OSError, CaptureError."""
    return CaptureReader(path)


class _Join:
    """Which connection a flow belongs to, within a section.

    Sections may have been put one behind the other: each counts its connections from `base`. A
    flow of ours that has lost its name gets a negative number.
    """

    def __init__(self, *, ours: bool, base: int = 0) -> None:
        # a file of ours repeats nothing: what is missing will not come
        self.flows = Reassembler(patience=0) if ours else Reassembler()
        self.highest = base
        self._base = base
        self._ours = ours
        self._names: dict[int, tuple[int, FlowName]] = {}

    def event(self, event: reassembly.Event) -> Iterator[Event]:
        if isinstance(event, reassembly.Opened):
            comment = next(
                (found for found in map(_document, event.comments) if _names_flow(found)), {}
            )
            number: int = comment.get("connection", -event.flow if self._ours else event.flow)
            if number > 0:
                number += self._base
            flow: FlowName = "left" if comment.get("flow") == "left" else "arrived"
            self.highest = max(self.highest, number)
            self._names[event.flow] = number, flow
            if flow == "arrived":
                client, server = _text(event.client), _text(event.server)
                yield Opened(number, event.ts_ns, client, server, comment)
            return
        number, flow = self._names[event.flow]
        if isinstance(event, reassembly.Data):
            comments = tuple(map(_document, event.comments))
            yield Chunk(
                number, flow, event.direction, event.ts_ns, event.data, comments, event.packet
            )
        elif isinstance(event, reassembly.Gap):
            yield Lost(number, flow, event.direction, event.ts_ns, event.size)
        else:
            del self._names[event.flow]
            if flow == "arrived":  # it is the last to be closed
                yield Closed(number, event.ts_ns, event.reset)

    def end(self) -> Iterator[Event]:
        for event in self.flows.end():
            yield from self.event(event)


def _meta(block: Section) -> dict[str, Any]:
    """The comment of a section of ours, or {}. Raises CaptureError if it is of a later format."""
    for comment in map(_document, block.comments):
        version = comment.get("barnabas")
        if isinstance(version, int):
            if version > FORMAT:
                raise CaptureError(
                    block.file_offset, f"format {version}, written by a newer barnabas"
                )
            return comment
    return {}


def _names_flow(comment: dict[str, Any]) -> bool:
    return comment.get("barnabas") == "flow" and type(comment.get("connection")) is int


def _document(text: str) -> dict[str, Any]:
    """A comment of ours, or a text of others.

    >>> _document('{"frame":5}'), _document("look here")
    ({'frame': 5}, {'text': 'look here'})
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"text": text}


def _text(endpoint: Endpoint) -> str:
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
