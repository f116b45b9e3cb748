"""Reads capture files as events: connections, and the bytes of their flows with their comments.

The two flows of a connection are joined by its number, which stands in the comment on their SYN. In
a file of others every TCP conversation that speaks Kafka is a connection with one flow. Segments of a
capture are read as the one file that they would have been.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from barnabas.captures.comments import began, document, meta_of, meta_of_file, scenario_note
from barnabas.captures.files.capture_folder import (
    Segment,
    arrivals,
    in_order,
    listing,
    present,
    segment_of,
)
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.open_files import OpenFiles
from barnabas.captures.files.pcapng import (
    NUMBERED,
    Block,
    CaptureError,
    Other,
    Packet,
    Run,
    Secrets,
    Section,
    Statistics,
    Truncated,
    each,
)
from barnabas.captures.kafka.framing.protocol_detection import Kind
from barnabas.captures.section import SectionReader
from barnabas.captures.tcp.events import Event, Linked, Lost, Note
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tls.decryption import Decryption, Seen
from barnabas.captures.tls.keylog import KeyLog

_TOLD: Final = 256
"""Packets between two looks at the position."""


class CaptureReader:
    """The events of capture files, from their beginning whenever it is iterated.

    Several files of others are read as one, merged by time: what two of them hold is there once, and
    packets are numbered as in the file that mergecap would make. Files of ours follow each other; those that
    are segments of one capture go by their numbers, whatever the order in which they are given. A folder
    stands for the captures in it.

    growth: it is read on as it grows, unless it is several files of others.

    TLS of others is read where its keys are in `keys`, or in the file (Decryption Secrets Blocks).

    Raises OSError, and CaptureError if one is no capture; iterating raises CaptureError behind all that can
    be read.
    """

    def __init__(
        self, *paths: Path, keys: KeyLog | None = None, growth: Growth | None = None
    ) -> None:
        self._growth = growth
        self.given = paths
        """What it was made with: files and folders."""
        self.keys = KeyLog()
        """The keys of TLS known so far."""
        self.tls = Seen()
        """What was found of TLS so far."""
        self._given_keys = keys
        self.meta: dict[str, Any]
        """What the first section of ours says of itself; {} in files of others."""
        self.notes: list[Note] = []
        """Remarks found so far."""
        self.packets = Packets()
        """What was found in the packets so far."""
        self.left_out: Counter[tuple[int, Kind]] = Counter()
        """Conversations found so far that do not speak Kafka: by the server's port, and what it is."""
        self.linked: dict[int, Linked] = {}
        """The linked flows of connections that are open by now."""
        self.truncated = False
        """Whether a file turned out to end within a block."""
        self.position = 0
        """Bytes read so far, of all files."""
        self.numbered = 0
        """Packets read so far, and other blocks that have a number in Wireshark."""
        self.missing: dict[str, list[int]] = {}
        """Segments found so far to be missing, by the name of their capture."""
        found: list[tuple[Path, Segment | None]] = []
        metas: dict[Path, dict[str, Any]] = {}
        self.others: dict[Path, str] = {}
        """Files of the folders that are not captures: see `Listing`."""
        for given in paths:
            folder = listing(given)
            self.others |= folder.others
            for path in folder.captures:
                metas[path] = meta_of_file(present(path))
                found.append((path, segment_of(metas[path])))
        self.paths = tuple(in_order(found))
        self._ours = any(metas.values())
        self.meta = next((metas[path] for path in self.paths if metas[path]), {})

    @property
    def says_brokers(self) -> bool:
        """Whether a connection says which broker it went to: not in files of others, nor in what was made
        of them (whose `meta` has `brokers`: nodes by address)."""
        return bool(self.meta) and "brokers" not in self.meta

    @property
    def scenarios(self) -> list[tuple[int, str]]:
        """The texts of the scenarios found so far, and since when each holds (ns since the epoch)."""
        said = [(began(self.meta), self.meta), *((note.ts_ns, note.comment) for note in self.notes)]
        return [
            (ts, comment["scenario"])
            for ts, comment in said
            if isinstance(comment.get("scenario"), str)
        ]

    def __iter__(self) -> Iterator[Event]:
        self._reset()
        files = OpenFiles()
        damaged: CaptureError | None = None
        told = 0
        try:
            for block in self._blocks(files):
                if self._number >= told:
                    told = self._number + _TOLD
                    self.position, self.numbered = files.position, self._number
                yield from self._events(block)
            self.position = files.position
        # what waits for something behind it comes first
        except CaptureError as problem:
            damaged = problem
        except OSError as problem:
            reason = f"can't be read any further: {problem.strerror}"
            damaged = CaptureError(files.position, reason)
        finally:
            files.close()
        self.packets.fragments.end()
        self.numbered = self._number
        if self._section is not None:
            yield from self._section.end()
        if damaged is not None:
            raise damaged

    def _reset(self) -> None:
        """Forget what was found when it was read before."""
        self.notes, self.packets, self.truncated, self.position = [], Packets(), False, 0
        self.left_out, self.linked, self.missing = Counter(), {}, {}
        self.tls, self.keys = Seen(), KeyLog()
        if self._given_keys is not None:
            self.keys.update(self._given_keys)
        self._segment: Segment | None = None
        """The segment that is being read."""
        self._section: SectionReader | None = None
        self._number = self.numbered = 0
        """Packets and other numbered blocks up to the present one."""

    def _events(self, block: Block | Run) -> Iterable[Event]:
        """Take a block, and return the events that it brings."""
        section = self._section
        if isinstance(block, Run):
            first = self._number + 1
            self._number += len(block.places)
            return () if section is None else section.run(block, self.packets, first)
        if isinstance(block, Packet):
            self._number += 1
            return () if section is None else section.packet(block, self.packets, self._number)
        if isinstance(block, Section):
            return self._begin(block)
        if isinstance(block, Statistics):
            self.notes += [Note(block.ts_ns, document(text)) for text in block.comments]
        elif isinstance(block, Secrets):
            self.keys.add(block.key_log)
        elif isinstance(block, Other):
            self._number += block.kind in NUMBERED
        elif isinstance(block, Truncated):
            self.truncated = True
        return ()

    def _begin(self, block: Section) -> Iterator[Event]:
        """Begin a section: the next segment of the capture that is being read, or another capture."""
        meta = meta_of(block)
        last, segment = self._segment, segment_of(meta)
        self._segment = segment
        if segment and last and segment.capture == last.capture:
            yield from self._next(last, segment, meta)
            return
        if segment and segment.number > 1:
            self._begins_with(segment, meta)
        before, base = self._section, 0
        if before is not None:
            if not meta and not before.ours:
                return  # files of others that were put one behind the other go on where they ended
            yield from before.end()
            self._goes_on(meta)
            base = before.highest
        decryption = Decryption(self.keys, self.tls, self.left_out)
        self._section = SectionReader(bool(meta), base, self.left_out, decryption, self.linked)

    def beginning(self) -> int:
        """When the first packet was captured, in ns; 0 if there is none. Raises OSError, CaptureError."""
        files = OpenFiles()
        try:
            found = (
                block.ts_ns for block in each(self._blocks(files)) if isinstance(block, Packet)
            )
            return next(found, 0)
        finally:
            files.close()

    def _goes_on(self, meta: dict[str, Any]) -> None:
        """Another section begins: from here on its scenario holds."""
        if (note := scenario_note(meta)) is not None:
            self.notes.append(Note(*note))

    def _next(self, last: Segment, segment: Segment, meta: dict[str, Any]) -> Iterator[Event]:
        """Another segment of the same capture begins: all goes on, unless some are missing."""
        lacking = range(last.number + 1, segment.number)
        if lacking:
            self.missing.setdefault(segment.capture, []).extend(lacking)
            self._goes_on(meta)
            yield Lost(0, "arrived", "request", 0, 0)

    def _begins_with(self, segment: Segment, meta: dict[str, Any]) -> None:
        """The segments before this one are not here: what was noted there and still holds it says."""
        self.missing.setdefault(segment.capture, []).extend(range(1, segment.number))
        standing = meta["segment"].get("notes")
        if isinstance(standing, list):
            self.notes += [Note(0, note) for note in standing if isinstance(note, dict)]

    def _blocks(self, files: OpenFiles) -> Iterator[Block | Run]:
        """The blocks of all files, which are opened as they are needed."""
        if not self._ours and len(self.paths) != 1:
            yield from files.merged(self.paths)
            return
        paths, growth = list(self.paths), self._growth
        for path in paths:  # which grows
            try:
                yield from files.blocks(present(path), growth)
            except FileNotFoundError:
                # if it made room for later segments, those say that it is missing
                if path in self.given:
                    raise
            if growth is not None and path == paths[-1]:
                paths += arrivals(growth, self.given, paths)
