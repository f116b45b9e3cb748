"""Read capture files as events: connections, and the bytes of their flows with comments.

If barnabas wrote the capture, the connection number in the comment on each SYN joins the two flows of a
connection. In other captures, every TCP conversation that speaks Kafka is a connection with one flow. The
segments of a capture are read like one file.
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
    Damage,
    Other,
    Packet,
    Run,
    Secrets,
    Section,
    Statistics,
    each,
)
from barnabas.captures.kafka.framing.protocol_detection import OtherProtocol
from barnabas.captures.section import SectionReader
from barnabas.captures.tcp.events import Event, Linked, Lost, Note
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tcp.share import Share, ShareFlows
from barnabas.captures.tls.decryption import Decryption, TlsCounts
from barnabas.captures.tls.keylog import KeyLog
from barnabas.plural import plural

UNNUMBERED: Final = 1 << 40
"""Added to a packet's number, it is the number of a flow in a share, which no proxy gives."""

_TOLD: Final = 256
"""Packets between two updates of the position."""


class CaptureReader:
    """A reader of the events in capture files; each iteration starts at the beginning.

    Several captures of other tools are merged by time: packets are numbered as in the file that mergecap
    would make. Captures of barnabas follow each other in the given order; segments of one capture are sorted
    by their numbers. A folder stands for the captures in it. TLS of other captures is decrypted if its keys
    are in `keys`, or in the file (Decryption Secrets Blocks).

    Args:
        paths: Files and folders.
        keys: TLS secrets.
        growth: Read on while the capture grows; ignored for several captures of other tools.
        share: Read only the conversations of a share. Connections without a number in a comment get
            `UNNUMBERED` plus the number of their first packet, those of later sections are not counted on.

    Raises:
        OSError: A file can't be read.
        CaptureError: A file is not a capture. Iterating raises it for damage, after all events: reading
            continues at the next valid block.
    """

    def __init__(
        self,
        *paths: Path,
        keys: KeyLog | None = None,
        growth: Growth | None = None,
        share: Share | None = None,
    ) -> None:
        self._growth = growth
        self._share = share
        self.sections: list[bool] = []
        """For each section that has begun, whether barnabas wrote it; one that continues the conversations of
        the section before it does not count."""
        self.flow_numbers: list[tuple[int, int]] = []
        """The flows of the share so far, if there is one: section and number."""
        self.given = paths
        """The files and folders that were passed to the constructor."""
        self.keys = KeyLog()
        """TLS secrets known so far."""
        self.tls = TlsCounts()
        """Counts of TLS connections read and unread so far."""
        self._extra_keys = keys
        self.meta: dict[str, Any]
        """Metadata in the comment of the first section that barnabas wrote; {} in other captures."""
        self.notes: list[Note] = []
        """Capture-wide notes read so far."""
        self.packets = Packets()
        """Counts of packets without a TCP segment so far."""
        self.left_out: Counter[tuple[int, OtherProtocol]] = Counter()
        """Conversations of other protocols so far, by server port and protocol."""
        self.linked: dict[int, Linked] = {}
        """The linked flows of connections that are open now, by connection number."""
        self.cut: dict[Path, int] = {}
        """Files that ended within a block so far, and the offset of the block."""
        self.position = 0
        """Bytes read so far, of all files."""
        self.numbered = 0
        """Packets read so far, with the other blocks that Wireshark numbers."""
        self.missing: dict[str, list[int]] = {}
        """Numbers of missing segments, by the name of their capture."""
        self.damage: dict[tuple[Path, int], Damage] = {}
        """Damage so far, by file and offset."""
        members: list[tuple[Path, Segment | None]] = []
        metas: dict[Path, dict[str, Any]] = {}
        self.others: dict[Path, str] = {}
        """Files of the folders that are not captures: see `Listing`."""
        for path_given in paths:
            folder = listing(path_given)
            self.others |= folder.others
            for path in folder.captures:
                metas[path] = meta_of_file(present(path))
                members.append((path, segment_of(metas[path])))
        self.paths = tuple(in_order(members))
        self._ours = any(metas.values())
        self.meta = next((metas[path] for path in self.paths if metas[path]), {})

    @property
    def truncated(self) -> bool:
        """Return whether a file ended within a block so far."""
        return bool(self.cut)

    @property
    def says_brokers(self) -> bool:
        """Return whether each connection names its broker.

        False for captures of other tools, and for slices made from them (whose `meta` has `brokers`: nodes by
        address).
        """
        return bool(self.meta) and "brokers" not in self.meta

    @property
    def scenarios(self) -> list[tuple[int, str]]:
        """Return the scenario texts found so far, each with its start (ns since the epoch)."""
        comments = [
            (began(self.meta), self.meta),
            *((note.ts_ns, note.comment) for note in self.notes),
        ]
        return [
            (ts, comment["scenario"])
            for ts, comment in comments
            if isinstance(comment.get("scenario"), str)
        ]

    def __iter__(self) -> Iterator[Event]:
        self._reset()
        files = OpenFiles()
        self.damage, self.cut = files.damage, files.cut
        damaged: CaptureError | None = None
        next_update = 0
        try:
            for block in self._blocks(files):
                if self._number >= next_update or not self.numbered:
                    next_update = self._number + _TOLD
                    self.position, self.numbered = files.position, self._number
                yield from self._events(block)
            self.position = files.position
        # yield waiting data before raising
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
        if self.damage and damaged is None:
            first, skipped = next(iter(self.damage.values())), self._skipped()
            damaged = CaptureError(first.at, f"{first.reason}; {skipped}")
        if damaged is not None:
            raise damaged

    def _skipped(self) -> str:
        """Return how much of the files could not be read."""
        size = sum(damage.bytes for damage in self.damage.values())
        places = f" in {len(self.damage)} places" if len(self.damage) > 1 else ""
        return f"{plural(size, 'byte')}{places} skipped"

    def _reset(self) -> None:
        """Forget the results of an earlier iteration."""
        self.notes, self.packets, self.position = [], Packets(), 0
        self.left_out, self.linked, self.missing = Counter(), {}, {}
        self.tls, self.keys = TlsCounts(), KeyLog()
        if self._extra_keys is not None:
            self.keys.update(self._extra_keys)
        self._segment: Segment | None = None
        """The capture segment that is being read."""
        self._section: SectionReader | None = None
        self.sections, self.flow_numbers = [], []
        self._number = self.numbered = 0
        """Packets and other numbered blocks, up to and including the current one."""

    def _events(self, block: Block | Run) -> Iterable[Event]:
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
        return ()

    def _begin(self, block: Section) -> Iterator[Event]:
        """Begin a section: the next segment of the current capture, or another capture."""
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
                return  # concatenated captures of other tools continue the same flows
            yield from before.end()
            self._goes_on(meta)
            base = 0 if self._share else before.highest
        decryption = Decryption(self.keys, self.tls, self.left_out)
        only = ShareFlows(self._share, self._flow_numbers()) if self._share else None
        self._section = SectionReader(
            bool(meta), base, self.left_out, decryption, self.linked, only
        )
        self.sections.append(bool(meta))

    def _flow_numbers(self) -> Iterator[int]:
        while True:
            number = UNNUMBERED + self.packet
            self.flow_numbers.append((len(self.sections) - 1, number))
            yield number

    @property
    def packet(self) -> int:
        """Return the number of the packet that the current event comes from, unless the event has one.

        At the end of a section it is the number of the last packet.
        """
        if self._section is None or self._section.ending:
            return self._number
        return self._section.number

    @property
    def ending(self) -> int:
        """Return whether the current event comes from the end of a section: see `SectionReader.ending`."""
        return 0 if self._section is None else self._section.ending

    def beginning(self) -> int:
        """Return when the first packet was captured (ns since the epoch); 0 without packets.

        Raises:
            OSError: A file can't be read.
            CaptureError: A file can't be read any further.
        """
        return next((packet.ts_ns for _, _, packet in self.numbered_packets()), 0)

    def numbered_packets(self) -> Iterator[tuple[int, Path, Packet]]:
        """Yield all packets in the order of reading, each with its number and its file.

        Raises:
            OSError: A file can't be read.
            CaptureError: A file can't be read any further.
        """
        files, number = OpenFiles(), 0
        try:
            for block in each(self._blocks(files)):
                if isinstance(block, Packet):
                    number += 1
                    assert files.path is not None  # noqa: S101
                    yield number, files.path, block
                elif isinstance(block, Other):
                    number += block.kind in NUMBERED
        finally:
            files.close()

    def _goes_on(self, meta: dict[str, Any]) -> None:
        """Note the scenario of the section that begins."""
        if (note := scenario_note(meta)) is not None:
            self.notes.append(Note(*note))

    def _next(self, last: Segment, segment: Segment, meta: dict[str, Any]) -> Iterator[Event]:
        """Continue with another segment of the same capture, reporting segments that are missing between."""
        lacking = range(last.number + 1, segment.number)
        if lacking:
            self.missing.setdefault(segment.capture, []).extend(lacking)
            self._goes_on(meta)
            yield Lost(0, "arrived", "request", 0, 0)

    def _begins_with(self, segment: Segment, meta: dict[str, Any]) -> None:
        """Note the missing segments before this first one, and the notes of theirs that it repeats."""
        self.missing.setdefault(segment.capture, []).extend(range(1, segment.number))
        standing = meta["segment"].get("notes")
        if isinstance(standing, list):
            self.notes += [Note(0, note) for note in standing if isinstance(note, dict)]

    def _blocks(self, files: OpenFiles) -> Iterator[Block | Run]:
        """Yield the blocks of all files, opening each file when it is needed."""
        if not self._ours and len(self.paths) != 1:
            yield from files.merged(self.paths)
            return
        paths, growth = list(self.paths), self._growth
        for path in paths:  # the list grows during iteration
            try:
                yield from files.blocks(present(path), growth)
            except FileNotFoundError:
                # deleted by rotation: the segments after it show that it is missing
                if path in self.given:
                    raise
            if growth is not None and path == paths[-1]:
                paths += arrivals(growth, self.given, paths)
