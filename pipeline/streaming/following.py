"""The order in which closed files are read, and their rows: the streaming job without Spark.

The state has everything that is open between two batches. A batch is a function of the state before it and of
its segments, so that a repeated batch has the same result.
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

SegmentFile = tuple[Path, FileSegment]

OTHERS: Final = ""
"""The capture to which files of other tools belong; no proxy has a capture of this name."""


@dataclass(slots=True)
class Following:
    """The state between two batches: values only, see `state.py`."""

    reader: IncrementalReader | None = None
    """The capture that is being read."""
    waiting: list[SegmentFile] = field(default_factory=list)
    """Segments that arrived before one that precedes them."""
    done: set[str] = field(default_factory=set)
    """Finished captures."""

    def batch(
        self,
        came: Iterable[Path],
        present: Callable[[], Collection[FileSegment]],
        gone: Iterable[Path] = (),
    ) -> Iterator[TableRow]:
        """Yield the rows that these files complete. Raises OSError.

        `present` returns all segments in the folder, arrived or not: present segments are awaited, others are
        missing. `gone` has arrived files that were overwritten or deleted since. Files of other tools are
        read in order of arrival.
        """
        for path in gone:
            yield _refused(path, "overwritten or deleted before it was read")
        waiting = set(self.waiting)
        for path in came:
            segment = identity(path)
            if segment is None and is_of_others(path):
                yield from self._read(path, self._next_of_others())
            elif segment is None:
                yield _refused(path, "not a segment written by a proxy")
            elif self._late(segment):
                yield _refused(path, "later segments were read already")
            else:
                waiting.add((path, segment))
        self.waiting = sorted(waiting, key=lambda segment_file: segment_file[0].name)
        while self.waiting:
            path, segment = self._next()
            if self._waits_for_others(segment, present):
                return
            self.waiting = [other for other in self.waiting if other[1] != segment]
            yield from self._read(path, segment)

    @property
    def _last(self) -> FileSegment | None:
        """Return the segment that was read last."""
        return self.reader.last if self.reader else None

    def _next(self) -> SegmentFile:
        """Return the next segment of the current capture, or the first one of the next capture."""
        captures = [segment.capture for _, segment in self.waiting]
        current = self._last.capture if self._last else None
        name = current if current in captures else captures[0]
        candidates = [each for each in self.waiting if each[1].capture == name]
        return min(candidates, key=lambda segment_file: segment_file[1].number)

    def _next_of_others(self) -> FileSegment:
        """Return the next file of another tool, as if it were a segment."""
        last = self._last
        number = last.number + 1 if last and last.capture == OTHERS else 1
        return FileSegment(OTHERS, number)

    def _waits_for_others(
        self, segment: FileSegment, present: Callable[[], Collection[FileSegment]]
    ) -> bool:
        """Return whether a present segment that has not arrived yet must be read before this one."""
        read = {self._last.capture: self._last.number} if self._last else {}
        if segment.number == read.get(segment.capture, -1) + 1:
            return False
        before = {**dict.fromkeys(read, 1 << 62), segment.capture: segment.number}
        missed = set(present()) - {segment_file[1] for segment_file in self.waiting}
        return any(
            read.get(each.capture, 0) < each.number < before.get(each.capture, 0) for each in missed
        )

    def _late(self, segment: FileSegment) -> bool:
        if self._last is not None and self._last.capture == segment.capture:
            return segment.number <= self._last.number
        return segment.capture in self.done

    def _read(self, path: Path, segment: FileSegment) -> Iterator[TableRow]:
        last = self._last
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
    """Return the capture's name in the tables: the time of its beginning, and its own name.

    >>> name_of(Path("barnabas-20261121T203300Z-000001.pcapng"), FileSegment("5f0e", 1))
    'barnabas-20261121T203300Z 5f0e'
    >>> name_of(Path("seg.pcap"), FileSegment(OTHERS, 1))
    'seg.pcap'
    """
    if segment.capture == OTHERS:
        return path.name
    return f"{path.name.partition('.')[0].rpartition('-')[0]} {segment.capture}"


def identity(path: Path) -> FileSegment | None:
    """Return the segment that a file contains, or None if it is no segment. Raises OSError."""
    try:
        return segment_of(meta_of_file(path))
    except CaptureError:
        return None


def is_of_others(path: Path) -> bool:
    """Return whether a file is a capture of another tool. Raises OSError."""
    try:
        return not meta_of_file(path)
    except CaptureError:
        return False


def closed(folder: Path) -> set[FileSegment]:
    """Return all closed segments in a folder. Raises OSError."""
    return set(filter(None, (identity(file.path) for file in closed_files(folder))))


def _refused(path: Path, reason: str) -> TableRow:
    return TableRow(
        "errors", {"capture": "", "file": str(path), "kind": "refused", "reason": reason}
    )
