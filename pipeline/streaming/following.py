"""Which closed files come next, and what is read of them: the streaming job without Spark.

Its state is what is open between two batches. A batch is a function of the state before it and of the
segments that it is given, so that a batch which was cut short comes to the same when it is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from barnabas.captures.comments import meta_of_file
from barnabas.captures.files.capture_folder import Segment as FileSegment
from barnabas.captures.files.capture_folder import segment_of
from barnabas.captures.files.closed_files import closed_files
from barnabas.captures.files.pcapng import CaptureError
from barnabas.pipeline.streaming.incremental_reader import IncrementalReader, TableRow

Given = tuple[Path, FileSegment]

OTHERS: Final = ""
"""The capture that files of other tools are segments of; no proxy calls one so."""


@dataclass(slots=True)
class Following:
    """What is known between two batches: values only, see `state.py`."""

    reader: IncrementalReader | None = None
    """The capture that is read just now."""
    waiting: list[Given] = field(default_factory=list)
    """Segments that came before one that they follow."""
    done: set[str] = field(default_factory=set)
    """Captures that are over."""

    def batch(
        self,
        came: Iterable[Path],
        present: Callable[[], Collection[FileSegment]],
        gone: Iterable[Path] = (),
    ) -> Iterator[TableRow]:
        """The rows that these files complete. `present`: all segments that are in the folder, whether they
        came yet or not: those are waited for; what is not there is missing. gone: what came, and was
        overwritten or deleted since. Raises OSError.

        Files that no proxy has written are read one behind the other, as they came.
        """
        for path in gone:
            yield _refused(path, "overwritten or deleted before it was read")
        known = set(self.waiting)
        for path in came:
            segment = identity(path)
            if segment is None and is_of_others(path):
                yield from self._read(path, self._next_of_others())
            elif segment is None:
                yield _refused(path, "not a segment written by a proxy")
            elif self._late(segment):
                yield _refused(path, "later segments were read already")
            else:
                known.add((path, segment))
        self.waiting = sorted(known, key=lambda given: given[0].name)
        while self.waiting:
            path, segment = self._next()
            if self._waits_for_others(segment, present):
                return
            self.waiting = [given for given in self.waiting if given[1] != segment]
            yield from self._read(path, segment)

    def _next(self) -> Given:
        """The next segment of the present capture; else the first one of the capture that begins next."""
        name = self.waiting[0][1].capture
        if self.reader is not None and self.reader.last is not None:
            going_on = self.reader.last.capture
            if any(segment.capture == going_on for _, segment in self.waiting):
                name = going_on
        mine = [given for given in self.waiting if given[1].capture == name]
        return min(mine, key=lambda given: given[1].number)

    def _next_of_others(self) -> FileSegment:
        """The next file that no proxy has written, as if it were a segment."""
        last = self.reader.last if self.reader else None
        going_on = last is not None and last.capture == OTHERS
        return FileSegment(OTHERS, last.number + 1 if last and going_on else 1)

    def _waits_for_others(
        self, segment: FileSegment, present: Callable[[], Collection[FileSegment]]
    ) -> bool:
        """Whether something is there, and has not come yet, that is to be read before."""
        last = self.reader.last if self.reader else None
        read = {last.capture: last.number} if last else {}
        if segment.number == read.get(segment.capture, -1) + 1:
            return False
        before = {**dict.fromkeys(read, 1 << 62), segment.capture: segment.number}
        missed = set(present()) - {given[1] for given in self.waiting}
        return any(
            read.get(each.capture, 0) < each.number < before.get(each.capture, 0) for each in missed
        )

    def _late(self, segment: FileSegment) -> bool:
        last = self.reader.last if self.reader else None
        if last is not None and last.capture == segment.capture:
            return segment.number <= last.number
        return segment.capture in self.done

    def _read(self, path: Path, segment: FileSegment) -> Iterator[TableRow]:
        last = self.reader.last if self.reader else None
        if self.reader is None or last is None or last.capture != segment.capture:
            if self.reader is not None and last is not None:
                yield from self.reader.end()
                self.done.add(last.capture)
            self.reader = IncrementalReader(name_of(path, segment), ours=segment.capture != OTHERS)
            last = FileSegment(segment.capture, 0)
        yield from self.reader.missing(range(last.number + 1, segment.number))
        yield from self.reader.segment(path)
        self.reader.last = segment


def name_of(path: Path, segment: FileSegment) -> str:
    """What the capture is called in the tables: when it began to be read, and its own name.

    >>> name_of(Path("barnabas-20261121T203300Z-000001.pcapng"), FileSegment("5f0e", 1))
    'barnabas-20261121T203300Z 5f0e'
    >>> name_of(Path("seg.pcap"), FileSegment(OTHERS, 1))
    'seg.pcap'
    """
    if segment.capture == OTHERS:
        return path.name
    return f"{path.name.partition('.')[0].rpartition('-')[0]} {segment.capture}"


def identity(path: Path) -> FileSegment | None:
    """What a file says of itself; None if it is no segment. Raises OSError."""
    try:
        return segment_of(meta_of_file(path))
    except CaptureError:
        return None


def is_of_others(path: Path) -> bool:
    """Return whether a file is a capture that no proxy has written. Raises OSError."""
    try:
        return not meta_of_file(path)
    except CaptureError:
        return False


def closed(folder: Path) -> set[FileSegment]:
    """All closed segments in a folder. Raises OSError."""
    found = (identity(file.path) for file in closed_files(folder))
    return {segment for segment in found if segment is not None}


def _refused(path: Path, reason: str) -> TableRow:
    return TableRow(
        "errors", {"capture": "", "file": str(path), "kind": "refused", "reason": reason}
    )
