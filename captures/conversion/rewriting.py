"""The second reading of a capture, which writes what is wanted of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from barnabas.captures.conversion.hiding import Hiding
from barnabas.captures.conversion.linked import LinkedStream
from barnabas.captures.conversion.spans import Spans
from barnabas.captures.conversion.stream import Piece, Stream
from barnabas.captures.conversion.survey import Survey
from barnabas.captures.host_port import endpoint_of
from barnabas.captures.kafka.notes import ended_by
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Event, FlowName, Lost, Opened
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.specs.frames import DIRECTIONS, Direction


def rewrite(
    reader: CaptureReader,
    events: Iterable[Event],
    survey: Survey,
    hiding: Hiding,
    writer: CaptureWriter,
) -> None:
    """Write what the survey found to be wanted. `events` are those of `reader`, as they are read.

    Raises whatever reading and writing do.
    """
    flows: dict[int, _Flow] = {}
    openings: Counter[int] = Counter()
    said = 0
    for event in events:
        said = _note(reader, writer, said, hiding)
        number = event.connection
        if isinstance(event, Opened):
            openings[number] += 1
            if survey.takes(number):
                arrived = {
                    way: survey.arrived.get((number, openings[number], way), Spans())
                    for way in DIRECTIONS
                }
                flows[number] = _Flow(event, arrived, reader, survey, hiding, writer)
        elif number in flows:
            flows[number].take(event)
            if isinstance(event, Closed):
                del flows[number]
    for flow in flows.values():
        flow.end()
    _note(reader, writer, said, hiding)


def _note(reader: CaptureReader, writer: CaptureWriter, said: int, hiding: Hiding) -> int:
    """Write the remarks that have been read by now; how many those are."""
    for note in reader.notes[said:]:
        writer.note(note.ts_ns, hiding.comment(note.comment))
    return len(reader.notes)


class _Flow:
    """One connection that is rewritten."""

    def __init__(
        self,
        opened: Opened,
        arrived: dict[Direction, Spans],
        reader: CaptureReader,
        survey: Survey,
        hiding: Hiding,
        writer: CaptureWriter,
    ) -> None:
        number = self._number = opened.connection
        self._reader = reader
        sliced = not survey.selection.whole
        client, server = endpoint_of(opened.client), endpoint_of(opened.server)
        self._flow: FlowWriter = writer.open(
            number, client, server, opened.ts_ns, _said(opened.comment, sliced)
        )
        self._bound = False
        hiding = self._hiding = replace(hiding, kinds=survey.kinds)
        self._partial = any(spans.partial is not None for spans in arrived.values())
        self._streams: dict[tuple[FlowName, Direction], Stream | LinkedStream] = {}
        for way, spans in arrived.items():
            stream = self._streams["arrived", way] = Stream(way, spans, hiding, sliced)
            linked = LinkedStream(way, stream.named, survey.replies, hiding, sliced)
            self._streams["left", way] = linked

    def take(self, event: Chunk | Lost | Closed) -> None:
        """What comes next of it."""
        if isinstance(event, Closed):
            self.end()
            if event.by is not None and self._partial:
                self._flow.arrived(event.by, b"", event.ts_ns, [(0, ended_by(event.by))])
            self._flow.close(event.ts_ns, event.reset)
            return
        flow, way = event.flow, event.direction
        if flow == "left" and not self._bound:
            self._bind()
        stream = self._streams[flow, way]
        if isinstance(event, Chunk):
            self._write(flow, way, stream.take(event))
        else:
            self._write(flow, way, stream.lose(event.bytes, event.ts_ns))

    def end(self) -> None:
        """Nothing more comes: what is there of frames that are not whole."""
        for (flow, way), stream in self._streams.items():
            self._write(flow, way, stream.end())

    def _write(self, flow: FlowName, way: Direction, pieces: list[Piece]) -> None:
        if flow == "left" and not self._bound:
            return
        for piece in pieces:
            if piece.missing:
                self._flow.missing(flow, way, piece.missing, piece.ts_ns)
            data = piece.data[0] if len(piece.data) == 1 else b"".join(piece.data)
            if not data and not piece.comments:
                continue
            comments = map(self._hiding.comment, piece.comments)
            if flow == "arrived":
                cuts = [(len(data), comment) for comment in comments]
                self._flow.arrived(way, data, piece.ts_ns, cuts)
            else:
                self._flow.left(way, data, piece.ts_ns, *comments)

    def _bind(self) -> None:
        """The linked flow has the addresses that it had."""
        found = self._reader.linked.get(self._number)
        if found is not None:
            self._flow.upstream(found.local, found.broker, _said(found.comment))
            self._bound = True


def _said(comment: dict[str, Any], sliced: bool = False) -> dict[str, Any]:
    """What a comment says of a flow, without its name: that is the writer's, and so are the numbers of
    frames in a slice."""
    name = ("barnabas", "connection", "flow", *(("frames",) if sliced else ()))
    return {key: value for key, value in comment.items() if key not in name}
