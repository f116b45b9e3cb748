"""Read a capture again, and write the selected parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from barnabas.captures.conversion.frame_masking import FrameMasking
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
    frame_masking: FrameMasking,
    writer: CaptureWriter,
) -> None:
    """Write what the survey has selected. `events` are the events of `reader`.

    Raises every error of reading and writing.
    """
    flows: dict[int, _Flow] = {}
    openings: Counter[int] = Counter()
    note_count = 0
    for event in events:
        note_count = _note(reader, writer, note_count, frame_masking)
        number = event.connection
        if isinstance(event, Opened):
            openings[number] += 1
            if survey.takes(number):
                arrived = {
                    direction: survey.arrived.get((number, openings[number], direction), Spans())
                    for direction in DIRECTIONS
                }
                flows[number] = _Flow(event, arrived, reader, survey, frame_masking, writer)
        elif number in flows:
            flows[number].take(event)
            if isinstance(event, Closed):
                del flows[number]
    for flow in flows.values():
        flow.end()
    _note(reader, writer, note_count, frame_masking)


def _note(
    reader: CaptureReader, writer: CaptureWriter, written: int, frame_masking: FrameMasking
) -> int:
    """Write the notes read since the last call, and return how many there are now."""
    for note in reader.notes[written:]:
        writer.note(note.ts_ns, frame_masking.comment(note.comment))
    return len(reader.notes)


class _Flow:
    """A connection that is rewritten."""

    def __init__(
        self,
        opened: Opened,
        arrived: dict[Direction, Spans],
        reader: CaptureReader,
        survey: Survey,
        frame_masking: FrameMasking,
        writer: CaptureWriter,
    ) -> None:
        number = self._number = opened.connection
        self._reader = reader
        sliced = not survey.selection.whole
        client, server = endpoint_of(opened.client), endpoint_of(opened.server)
        self._flow: FlowWriter = writer.open(
            number, client, server, opened.ts_ns, _flow_facts(opened.comment, sliced)
        )
        self._bound = False
        frame_masking = self._frame_masking = replace(frame_masking, kinds=survey.kinds)
        self._partial = any(spans.partial is not None for spans in arrived.values())
        self._streams: dict[tuple[FlowName, Direction], Stream | LinkedStream] = {}
        for direction, spans in arrived.items():
            stream = self._streams["arrived", direction] = Stream(
                direction, spans, frame_masking, sliced
            )
            linked = LinkedStream(direction, stream.named, survey.replies, frame_masking, sliced)
            self._streams["left", direction] = linked

    def take(self, event: Chunk | Lost | Closed) -> None:
        """Write what the next event brings."""
        if isinstance(event, Closed):
            self.end()
            if event.by is not None and self._partial:
                self._flow.arrived(event.by, b"", event.ts_ns, [(0, ended_by(event.by))])
            self._flow.close(event.ts_ns, event.reset)
            return
        flow, direction = event.flow, event.direction
        if flow == "left" and not self._bound:
            self._bind()
        stream = self._streams[flow, direction]
        if isinstance(event, Chunk):
            self._write(flow, direction, stream.take(event))
        else:
            self._write(flow, direction, stream.lose(event.bytes, event.ts_ns))

    def end(self) -> None:
        """Write incomplete frames at the end."""
        for (flow, direction), stream in self._streams.items():
            self._write(flow, direction, stream.end())

    def _write(self, flow: FlowName, direction: Direction, pieces: list[Piece]) -> None:
        if flow == "left" and not self._bound:
            return
        for piece in pieces:
            if piece.missing:
                self._flow.missing(flow, direction, piece.missing, piece.ts_ns)
            data = piece.data[0] if len(piece.data) == 1 else b"".join(piece.data)
            if not data and not piece.comments:
                continue
            comments = map(self._frame_masking.comment, piece.comments)
            if flow == "arrived":
                cuts = [(len(data), comment) for comment in comments]
                self._flow.arrived(direction, data, piece.ts_ns, cuts)
            else:
                self._flow.left(direction, data, piece.ts_ns, *comments)

    def _bind(self) -> None:
        """Give the linked flow its addresses."""
        linked = self._reader.linked.get(self._number)
        if linked is not None:
            self._flow.upstream(linked.local, linked.broker, _flow_facts(linked.comment))
            self._bound = True


def _flow_facts(comment: dict[str, Any], sliced: bool = False) -> dict[str, Any]:
    """Return the facts of a flow's comment, without its identity, which the writer adds.

    In a slice, the numbers of frames are left out, too.
    """
    name = ("barnabas", "connection", "flow", *(("frames",) if sliced else ()))
    return {key: value for key, value in comment.items() if key not in name}
