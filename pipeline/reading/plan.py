"""How captures are read: pieces that can be read by themselves, and what holds where each begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from barnabas.captures.tcp.headers import TcpSegment
from barnabas.pipeline.reading.faults import Fault
from barnabas.pipeline.reading.ranges import Range


class SectionGroup(NamedTuple):
    """Sections within which conversations go on: one of ours, or all of others up to one of ours."""

    ours: bool
    end: int
    """How many numbered blocks there are up to its end."""


class Beside(NamedTuple):
    """Another file of the same time, and what of it stands between the packets of a piece."""

    before: int
    """Numbered blocks of it that stand before its ranges."""
    latest: int
    """The latest time before them, ns."""
    ranges: tuple[Range, ...]
    first: bool
    """Whether its packets come first where times are the same."""


class Defragmented(NamedTuple):
    """A segment that a fragment has made whole."""

    ts_ns: int
    segment: TcpSegment


@dataclass(frozen=True, slots=True)
class Piece:
    """A range to be read, exactly, and all that stands outside of it and matters in it."""

    range: Range
    number: int
    """Numbered blocks before it: in its file if that is merged with others, else in all."""
    latest: int
    """The latest time of a packet before it in its file, ns."""
    section_groups: tuple[tuple[int, int], ...]
    """(offset in the file, number of the group) of those within it, and of the one before."""
    beside: tuple[Beside, ...] = ()
    whole: Mapping[int, Defragmented] = field(default_factory=dict)
    """What its fragments have made whole, by the place of the packet as it is counted in its file."""


@dataclass(slots=True)
class Plan:
    """How captures are read."""

    pieces: list[Piece] = field(default_factory=list)
    section_groups: list[SectionGroup] = field(default_factory=list)
    links: dict[tuple[int, bytes], bytes] = field(default_factory=dict)
    """By group of sections and ends: what flows of ours that belong to one connection have in common."""
    secrets: list[bytes] = field(default_factory=list)
    """Key logs out of the files."""
    notes: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """What captures of ours say of themselves, and remarks: when (ns), and what."""
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    """With the file's path."""
    packets: int = 0
    repaired: int = 0
    """Ranges that were surveyed again, since they did not begin where the one before ends."""
