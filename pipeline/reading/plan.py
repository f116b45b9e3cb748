"""The plan for reading captures: exact pieces for tasks, and the state at the beginning of each piece.

The driver makes it from the survey of all ranges. It numbers packets by sums over the ranges, and finds flows
that belong together. If a range does not begin where the preceding one ends, the driver surveys it again from
the right offset.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from barnabas.captures.comments import began, document, meta_of, scenario_note
from barnabas.captures.files.capture_folder import Segment as FileSegment
from barnabas.captures.files.capture_folder import ranges as text_of
from barnabas.captures.files.capture_folder import segment_of
from barnabas.captures.files.pcapng import Section
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.pipeline.reading.ranges import Fault, Range, State
from barnabas.pipeline.reading.survey import Fragment, RangeSurvey


class SectionGroup(NamedTuple):
    """Sections in which conversations continue: one of the proxy, or consecutive ones of other tools."""

    ours: bool
    end: int
    """The number of numbered blocks up to its end."""


class OverlappingFile(NamedTuple):
    """A file with packets at the times of a piece, and the ranges that have them."""

    before: int
    """Numbered blocks of the file before its ranges."""
    latest: int
    """The latest time before the ranges, ns."""
    ranges: tuple[Range, ...]
    first: bool
    """Whether its packets come first if times are equal."""


class Defragmented(NamedTuple):
    """A segment that a fragment has completed."""

    ts_ns: int
    segment: TcpSegment


@dataclass(frozen=True, slots=True)
class Piece:
    """An exact range to read, with the facts from outside the range that it depends on."""

    range: Range
    number: int
    """Numbered blocks before it: in its file if that is merged with others, else in all files."""
    latest: int
    """The latest time of a packet before it in its file, ns."""
    section_groups: tuple[tuple[int, int], ...]
    """(offset in the file, number of the group) of the groups in the piece, and of the preceding one."""
    overlapping: tuple[OverlappingFile, ...] = ()
    whole: Mapping[int, Defragmented] = field(default_factory=dict)
    """The segments that its fragments have completed, by the packet's number in its file."""


@dataclass(slots=True)
class Plan:
    """A plan for reading captures."""

    pieces: list[Piece] = field(default_factory=list)
    section_groups: list[SectionGroup] = field(default_factory=list)
    links: dict[tuple[int, bytes], bytes] = field(default_factory=dict)
    """By group of sections and endpoints: the key of flows that belong to one connection of the proxy."""
    secrets: list[bytes] = field(default_factory=list)
    """Key logs from the files."""
    notes: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Metadata of the proxy's captures, and remarks: time (ns), and content."""
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    """With the file's path."""
    packets: int = 0
    repaired: int = 0
    """Ranges that were surveyed again because they did not begin where the preceding one ends."""


Survey = Callable[[Sequence[Range]], list[RangeSurvey]]


def plan(ranges: Sequence[Range], survey: Survey) -> Plan:
    """Return the plan for reading these ranges. Raises CaptureError if a newer barnabas wrote a file."""
    new_plan = Plan()
    surveys = _joined(ranges, survey, new_plan)
    files: dict[int, list[RangeSurvey]] = {}
    for each in surveys:
        files.setdefault(each.range.file, []).append(each)
    ours = any(meta_of(section) for each in surveys for section, _ in each.sections)
    merged = len(files) > 1 and not ours
    groups_by_file = _section_groups(files, new_plan, merged=merged)
    for file, ranges_of in files.items():
        _pieces(file, ranges_of, files, groups_by_file[file], new_plan, merged=merged)
    _links(surveys, groups_by_file, new_plan)
    _fragments(files, new_plan)
    return new_plan


def _joined(ranges: Sequence[Range], survey: Survey, new_plan: Plan) -> list[RangeSurvey]:
    """Return surveys in which each range begins where the preceding one ends, with the right state."""
    surveys = survey(ranges)
    outdated: list[int] = []
    file, at, state = -1, 0, State()
    for index, current in enumerate(surveys):
        if current.range.file != file:
            file, at, state = current.range.file, current.range.start, current.range.state
        begins = at if at < current.range.stop else None
        exact_range = current.range._replace(start=at, state=state, exact=True)
        if current.begin != begins or _written(current.range.state) != _written(state):
            new_plan.repaired += 1
            current = surveys[index] = survey([exact_range])[0]
        elif current.range.state != state:
            outdated.append(index)
            current.range = exact_range
        else:
            current.range = exact_range
        at = max(at, current.end)
        state = _state_after(current, state)
    for index, current in zip(
        outdated, survey([surveys[index].range for index in outdated]), strict=True
    ):
        surveys[index] = current
    return surveys


def _written(state: State) -> object:
    """Return the part of the state that decides where blocks begin."""
    return state._replace(interfaces=())


def _state_after(survey_of_range: RangeSurvey, state: State) -> State:
    before = () if survey_of_range.sections else state.interfaces
    return survey_of_range.state._replace(interfaces=before + survey_of_range.added)


def _section_groups(
    files: Mapping[int, Sequence[RangeSurvey]], new_plan: Plan, *, merged: bool
) -> dict[int, list[tuple[int, int]]]:
    """Return the offsets at which groups of sections begin, with their numbers, by file."""
    groups_by_file: dict[int, list[tuple[int, int]]] = {}
    numbered, ours = 0, False
    last: FileSegment | None = None
    for file, surveys in files.items():
        groups_by_file[file] = groups = []
        starts = [(Section((), "", 0), 0)] if surveys[0].range.kind == "pcap" else []
        for current in surveys:
            for section, before in (*starts, *current.sections):
                meta = meta_of(section)
                before_it, last = last, segment_of(meta)
                if last and before_it and last.capture == before_it.capture:
                    new_plan.faults += _missing(before_it, last, current.range.path)
                    continue  # the same capture goes on
                if not new_plan.section_groups or bool(meta) or ours:
                    ours = bool(meta)
                    _begin_group(new_plan, numbered + before, meta)
                    groups.append((section.file_offset, len(new_plan.section_groups) - 1))
            starts = []
            numbered += current.numbered
            new_plan.notes += [
                (at.ts_ns, document(text)) for at in current.notes for text in at.comments
            ]
        if not groups or merged:
            groups.insert(0, (0, 0 if merged else max(0, len(new_plan.section_groups) - 1)))
    if new_plan.section_groups:
        new_plan.section_groups[-1] = new_plan.section_groups[-1]._replace(end=numbered)
    return groups_by_file


def _begin_group(new_plan: Plan, at: int, meta: dict[str, Any]) -> None:
    """Begin a group of sections after `at` numbered blocks."""
    if new_plan.section_groups:
        new_plan.section_groups[-1] = new_plan.section_groups[-1]._replace(end=at)
        if (note := scenario_note(meta)) is not None:
            new_plan.notes.append(note)
    elif meta:
        new_plan.notes.append((began(meta), {**meta, "barnabas": "section"}))
    new_plan.section_groups.append(SectionGroup(bool(meta), 0))


def _missing(last: FileSegment, segment: FileSegment, path: str) -> Iterator[tuple[str, Fault]]:
    if segment.number > last.number + 1:
        numbers = text_of([*range(last.number + 1, segment.number)])
        yield path, Fault(0, 0, "missing", f"segments before this one are missing: {numbers}")


def _pieces(
    file: int,
    surveys: Sequence[RangeSurvey],
    files: Mapping[int, Sequence[RangeSurvey]],
    section_groups: list[tuple[int, int]],
    new_plan: Plan,
    *,
    merged: bool,
) -> None:
    number = 0 if merged else new_plan.packets
    latest = 0
    for current in surveys:
        new_plan.faults += [(current.range.path, fault) for fault in current.faults]
        new_plan.secrets += [block.key_log for block in current.secrets]
        if current.numbered:
            until = max(latest, current.latest)
            overlapping = tuple(
                _overlapping(others, (latest, until), first=other < file)
                for other, others in files.items()
                if merged and other != file
            )
            within = tuple(_within(section_groups, current.range.start, current.end))
            new_plan.pieces.append(Piece(current.range, number, latest, within, overlapping))
        number += current.numbered
        latest = max(latest, current.latest)
    new_plan.packets = new_plan.packets + number if merged else number


def _within(
    section_groups: list[tuple[int, int]], start: int, stop: int
) -> Iterator[tuple[int, int]]:
    offsets = [offset for offset, _ in section_groups]
    first = max(0, bisect.bisect_right(offsets, start) - 1)
    for offset, section_group in section_groups[first:]:
        if offset < stop:
            yield offset, section_group


def _overlapping(
    surveys: Sequence[RangeSurvey], times: tuple[int, int], *, first: bool
) -> OverlappingFile:
    """Return the part of another file that may be between packets of these times, inclusive."""
    before = latest = latest_so_far = 0
    ranges: list[Range] = []
    for other in surveys:
        reached = max(latest_so_far, other.latest)
        if not ranges and reached < times[0]:
            before += other.numbered
            latest = reached
        elif latest_so_far <= times[1]:
            ranges.append(other.range)
        latest_so_far = reached
    return OverlappingFile(before, latest, tuple(ranges), first)


def _links(
    surveys: Sequence[RangeSurvey],
    groups_by_file: Mapping[int, list[tuple[int, int]]],
    new_plan: Plan,
) -> None:
    """Join flows by the number of a connection in their comments, or by their endpoints."""
    parents: dict[object, object] = {}

    def root(item: object) -> object:
        while (above := parents.setdefault(item, item)) != item:
            parents[item] = parents[above]
            item = above
        return item

    members: list[tuple[int, bytes]] = []
    for current in surveys:
        section_groups = groups_by_file[current.range.file]
        for offset, ends, connection in current.named:
            index = bisect.bisect_right([begin for begin, _ in section_groups], offset) - 1
            section_group = section_groups[max(0, index)][1]
            members.append((section_group, ends))
            parents[root((section_group, ends))] = root((section_group, connection))
    groups: dict[object, set[tuple[int, bytes]]] = {}
    for member in members:
        groups.setdefault(root(member), set()).add(member)
    for group in groups.values():
        if len(group) > 1:
            new_plan.links |= dict.fromkeys(group, min(group)[1])


def _fragments(files: Mapping[int, Sequence[RangeSurvey]], new_plan: Plan) -> None:
    """Reassemble datagrams, in packet order."""
    numbers = {piece.range: at for at, piece in enumerate(new_plan.pieces)}
    waiting: list[tuple[int, int, int, int, Fragment]] = []
    for file, surveys in files.items():
        latest = 0
        for current in surveys:
            at = numbers.get(current.range)
            for fragment in current.fragments:
                assert at is not None  # noqa: S101
                latest = max(latest, fragment.ts_ns)
                packet_number = new_plan.pieces[at].number + fragment.number
                when = latest if new_plan.pieces[at].overlapping else 0
                waiting.append((when, file, packet_number, at, fragment))
            latest = max(latest, current.latest)
    packets = Packets()
    for _, _, packet_number, at, fragment in sorted(waiting, key=lambda item: item[:3]):
        segment = packets.tcp_segment(fragment.linktype, fragment.data)
        if segment is not None:
            whole = {
                **new_plan.pieces[at].whole,
                packet_number: Defragmented(fragment.ts_ns, segment),
            }
            new_plan.pieces[at] = replace(new_plan.pieces[at], whole=whole)
