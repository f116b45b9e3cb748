"""From what the survey found to pieces that can be read by themselves and fit together.

Made on the driver: numbers of packets by sums over the ranges, what holds where each begins, which flows
belong together. Where two ranges do not meet, the second one is surveyed again from the right place.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from barnabas.captures.comments import began, document, meta_of, scenario_note
from barnabas.captures.files.capture_folder import Segment as FileSegment
from barnabas.captures.files.capture_folder import ranges as text_of
from barnabas.captures.files.capture_folder import segment_of
from barnabas.captures.files.pcapng import Section
from barnabas.captures.tcp.packets import Packets
from barnabas.pipeline.reading.faults import Fault
from barnabas.pipeline.reading.plan import Beside, Defragmented, Piece, Plan, SectionGroup
from barnabas.pipeline.reading.ranges import Range, State
from barnabas.pipeline.reading.survey import Fragment, Surveyed

Survey = Callable[[Sequence[Range]], list[Surveyed]]


def plan(ranges: Sequence[Range], survey: Survey) -> Plan:
    """What is to be read. Raises CaptureError if a file was written by a newer barnabas."""
    made = Plan()
    found = _joined(ranges, survey, made)
    files: dict[int, list[Surveyed]] = {}
    for one in found:
        files.setdefault(one.range.file, []).append(one)
    ours = any(meta_of(section) for one in found for section, _ in one.sections)
    merged = len(files) > 1 and not ours
    placed = _section_groups(files, made, merged=merged)
    for file, ranges_of in files.items():
        _pieces(file, ranges_of, files, placed[file], made, merged=merged)
    _links(found, placed, made)
    _fragments(files, made)
    return made


def _joined(ranges: Sequence[Range], survey: Survey, made: Plan) -> list[Surveyed]:
    """The ranges' surveys, each of which begins where the one before ends, and knows what holds there."""
    found = survey(ranges)
    again: list[int] = []
    file, at, state = -1, 0, State()
    for index, one in enumerate(found):
        if one.range.file != file:
            file, at, state = one.range.file, one.range.start, one.range.state
        begins = at if at < one.range.stop else None
        right = one.range._replace(start=at, state=state, exact=True)
        if one.begin != begins or _written(one.range.state) != _written(state):
            made.repaired += 1
            one = found[index] = survey([right])[0]
        elif one.range.state != state:
            again.append(index)
            one.range = right
        else:
            one.range = right
        at = max(at, one.end)
        state = _behind(one, state)
    for index, one in zip(again, survey([found[index].range for index in again]), strict=True):
        found[index] = one
    return found


def _written(state: State) -> object:
    """What decides where blocks begin."""
    return state._replace(interfaces=())


def _behind(one: Surveyed, state: State) -> State:
    """What holds behind a range."""
    before = () if one.sections else state.interfaces
    return one.state._replace(interfaces=before + one.added)


def _section_groups(
    files: Mapping[int, Sequence[Surveyed]], made: Plan, *, merged: bool
) -> dict[int, list[tuple[int, int]]]:
    """By file: the offsets at which groups of sections begin, with their numbers."""
    placed: dict[int, list[tuple[int, int]]] = {}
    numbered, ours = 0, False
    last: FileSegment | None = None
    for file, found in files.items():
        placed[file] = here = []
        starts = [(Section((), "", 0), 0)] if found[0].range.kind == "pcap" else []
        for one in found:
            for section, before in (*starts, *one.sections):
                meta = meta_of(section)
                before_it, last = last, segment_of(meta)
                if last and before_it and last.capture == before_it.capture:
                    made.faults += _missing(before_it, last, one.range.path)
                    continue  # the same capture goes on
                if not made.section_groups or bool(meta) or ours:
                    ours = bool(meta)
                    _begin_group(made, numbered + before, meta)
                    here.append((section.file_offset, len(made.section_groups) - 1))
            starts = []
            numbered += one.numbered
            made.notes += [(at.ts_ns, document(text)) for at in one.notes for text in at.comments]
        if not here or merged:
            here.insert(0, (0, 0 if merged else max(0, len(made.section_groups) - 1)))
    if made.section_groups:
        made.section_groups[-1] = made.section_groups[-1]._replace(end=numbered)
    return placed


def _begin_group(made: Plan, at: int, meta: dict[str, Any]) -> None:
    """Begin a group of sections. at: how many numbered blocks there are before it."""
    if made.section_groups:
        made.section_groups[-1] = made.section_groups[-1]._replace(end=at)
        if (note := scenario_note(meta)) is not None:
            made.notes.append(note)
    elif meta:
        made.notes.append((began(meta), {**meta, "barnabas": "section"}))
    made.section_groups.append(SectionGroup(bool(meta), 0))


def _missing(last: FileSegment, segment: FileSegment, path: str) -> Iterator[tuple[str, Fault]]:
    if segment.number > last.number + 1:
        numbers = text_of([*range(last.number + 1, segment.number)])
        yield path, Fault(0, 0, "missing", f"segments before this one are missing: {numbers}")


def _pieces(
    file: int,
    found: Sequence[Surveyed],
    files: Mapping[int, Sequence[Surveyed]],
    section_groups: list[tuple[int, int]],
    made: Plan,
    *,
    merged: bool,
) -> None:
    number = 0 if merged else made.packets
    latest = 0
    for one in found:
        made.faults += [(one.range.path, fault) for fault in one.faults]
        made.secrets += [block.key_log for block in one.secrets]
        if one.numbered:
            until = max(latest, one.latest)
            beside = tuple(
                _beside(others, (latest, until), first=other < file)
                for other, others in files.items()
                if merged and other != file
            )
            within = tuple(_within(section_groups, one.range.start, one.end))
            made.pieces.append(Piece(one.range, number, latest, within, beside))
        number += one.numbered
        latest = max(latest, one.latest)
    made.packets = made.packets + number if merged else number


def _within(
    section_groups: list[tuple[int, int]], start: int, stop: int
) -> Iterator[tuple[int, int]]:
    offsets = [offset for offset, _ in section_groups]
    first = max(0, bisect.bisect_right(offsets, start) - 1)
    for offset, section_group in section_groups[first:]:
        if offset < stop:
            yield offset, section_group


def _beside(others: Sequence[Surveyed], times: tuple[int, int], *, first: bool) -> Beside:
    """What of another file may stand between packets of these times, both included."""
    before = latest = now = 0
    ranges: list[Range] = []
    for other in others:
        reached = max(now, other.latest)
        if not ranges and reached < times[0]:
            before += other.numbered
            latest = reached
        elif now <= times[1]:
            ranges.append(other.range)
        now = reached
    return Beside(before, latest, tuple(ranges), first)


def _links(
    found: Sequence[Surveyed], placed: Mapping[int, list[tuple[int, int]]], made: Plan
) -> None:
    """Flows that are joined by the number of a connection in their comments, or by their ends."""
    parents: dict[object, object] = {}

    def root(item: object) -> object:
        while (above := parents.setdefault(item, item)) != item:
            parents[item] = parents[above]
            item = above
        return item

    members: list[tuple[int, bytes]] = []
    for one in found:
        section_groups = placed[one.range.file]
        for offset, ends, connection in one.named:
            place = bisect.bisect_right([begin for begin, _ in section_groups], offset) - 1
            section_group = section_groups[max(0, place)][1]
            members.append((section_group, ends))
            parents[root((section_group, ends))] = root((section_group, connection))
    groups: dict[object, set[tuple[int, bytes]]] = {}
    for member in members:
        groups.setdefault(root(member), set()).add(member)
    for group in groups.values():
        if len(group) > 1:
            made.links |= dict.fromkeys(group, min(group)[1])


def _fragments(files: Mapping[int, Sequence[Surveyed]], made: Plan) -> None:
    """Put datagrams together, in the order of the packets."""
    numbers = {piece.range: at for at, piece in enumerate(made.pieces)}
    waiting: list[tuple[int, int, int, int, Fragment]] = []
    for file, found in files.items():
        latest = 0
        for one in found:
            at = numbers.get(one.range)
            for fragment in one.fragments:
                assert at is not None  # noqa: S101
                latest = max(latest, fragment.ts_ns)
                place = made.pieces[at].number + fragment.place
                when = latest if made.pieces[at].beside else 0
                waiting.append((when, file, place, at, fragment))
            latest = max(latest, one.latest)
    packets = Packets()
    for _, _, place, at, fragment in sorted(waiting, key=lambda item: item[:3]):
        segment = packets.tcp_segment(fragment.linktype, fragment.data)
        if segment is not None:
            whole = {**made.pieces[at].whole, place: Defragmented(fragment.ts_ns, segment)}
            made.pieces[at] = replace(made.pieces[at], whole=whole)
