"""The message that a case was made of as a tree of its fields, with the places marked that were changed.

Shown is the valid message: what was made of it often can't be read. Of a long one what is near the places is
shown, and what those stand in; the rest is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final, NamedTuple

from barnabas.captures.kafka.wording import printable, shorten
from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.frame_map.compressed import charts_of
from barnabas.fuzz.frame_map.fields import FieldMap, map_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.plural import plural
from barnabas.specs.registry import NAMES

NEAR: Final = 4
"""Lines before and behind a changed place that are shown."""

WHOLE: Final = 24
"""Lines of a message that is shown whole."""

VALUE: Final = 48
"""Characters of a value."""

DETAIL: Final = 120
"""Characters of what was done."""

MARK: Final = ">"

_FIXED: Final = frozenset(("int8", "int16", "int32", "int64", "uint16", "uint32"))
"""Kinds of numbers that take as many bytes as they did, whatever is written."""


class Line(NamedTuple):
    """A field: how deep it stands, what is shown of it, whether it was changed, and whether it is packed and
    something in it was."""

    depth: int
    text: str
    changed: bool = False
    holds: bool = False


class Place(NamedTuple):
    """Bytes of a frame, with its size in front."""

    start: int
    end: int


def tree(recipe: Recipe, chunk: bytes | None = None) -> Iterator[str]:
    """The lines of a recipe's message. chunk: what was made of it, if that is one."""
    chart = map_of(recipe.seed)
    changes = {one.path: _said(one) for one in recipe.changes if one.path}
    became = {} if chunk is None else _became(recipe, chart, chunk)
    shown = [
        chart,
        *(one for one in charts_of(chart)[1:] if not changes.keys().isdisjoint(one.index)),
    ]
    holding = {one.packing.part.path for one in shown if one.packing is not None}
    lines = [line for one in shown for line in _lines(one, changes, holding, became)]
    seed = recipe.seed
    yield f"{NAMES.get(seed.key, seed.key)} v{seed.version} {seed.direction}"
    yield from _folded(lines)
    known = {path for one in shown for path in one.index}
    for change in recipe.changes:
        if not change.path or change.path not in known:
            yield f"{MARK} {change.path or 'the frame'}  <-- {_said(change)}"


def place(recipe: Recipe, chunk: bytes) -> Place | None:
    """Where a recipe's change stands in a chunk that was made of it; None if that is not known, as of two.

    What is compressed changes as a whole. Where bytes were taken, a place is empty, or ends with the chunk.
    """
    if len(recipe.changes) != 1:
        return None
    chart, path = map_of(recipe.seed), recipe.changes[0].path
    inner = next((one for one in charts_of(chart) if path in one.index), None)
    if inner is None or not path:
        return None
    part = inner.parts[inner.index[path]]
    packing = inner.packing
    while packing is not None:
        outer = packing.part
        if packing.codec == "none":  # a container: its bytes stand in the message as they are
            part = part._replace(start=outer.start + part.start, end=outer.start + part.end)
        else:
            part = outer
        packing = packing.outer.packing
    start = min(part.start + 4, len(chunk))
    end = len(chunk) - (len(chart.framed) - part.end - 4)
    return Place(start, max(start, min(end, len(chunk))))


def _said(change: Change) -> str:
    return (
        f"{change.mutator}: {shorten(printable(change.detail), DETAIL)}"
        if change.detail
        else change.mutator
    )


def _became(recipe: Recipe, chart: FieldMap, chunk: bytes) -> dict[str, int]:
    """The number of a fixed size that another one was put in the place of, by its path."""
    if len(recipe.changes) != 1 or (path := recipe.changes[0].path) not in chart.index:
        return {}
    part, where = chart.parts[chart.index[path]], place(recipe, chunk)
    if part.kind not in _FIXED or where is None or where.end - where.start != part.end - part.start:
        return {}
    data = chunk[where.start : where.end]
    return {path: int.from_bytes(data, "big", signed=not part.kind.startswith("u"))}


def _lines(
    chart: FieldMap, changes: dict[str, str], holding: Set[str], became: Mapping[str, int]
) -> Iterator[Line]:
    """A map's parts: numbers about others only where they were changed, or where they are fields."""
    above = 0
    if chart.packing is None:
        yield Line(0, "header")
    else:
        how = "in parts" if chart.packing.codec == "none" else "unpacked"
        yield Line(0, f"{chart.packing.part.path}, {how}")
        above = len(_names(chart.packing.part.path)) - 2
    for part in chart.parts:
        said = changes.get(part.path)
        if part.kind == "frame" or (said is None and _left_out(part)):
            continue
        names = _names(part.path)
        name, depth = names[-1], len(names) - 1 - above
        if part.kind in ("length", "count", "marker") and not names[-2].startswith("["):
            name, depth = ".".join(names[-2:]), depth - 1  # it stands beside what it is of
        value = _value(chart.seed.frame, part)
        text = f"{name}: {value}" if value else name
        text += f" -> {became[part.path]}" if part.path in became else ""
        text = f"{text}  <-- {said}" if said else text
        yield Line(depth, text, said is not None, part.path in holding)


def _names(path: str) -> list[str]:
    """A path's names and indices: as many as it is deep."""
    return path.replace("[", ".[").split(".")


def _left_out(part: Part) -> bool:
    """Numbers about others, and sections without a tag."""
    return part.kind in ("length", "count", "marker") or (
        part.kind == "tags" and part.end - part.start < 2
    )


def _value(frame: bytes, part: Part) -> str:
    data = frame[part.start : part.end]
    match part.kind:
        case "struct" | "tags" | "tag" | "batch" | "record" | "header" | "unpacked":
            return ""
        case "array":
            return "null" if part.value < 0 else plural(part.value, "element")
        case "string":
            text = data.decode("utf-8", "replace")
            return "null" if part.value < 0 else shorten(repr(text), VALUE)
        case "bytes" | "records" | "packed" | "container":
            return "null" if part.value < 0 else _bytes(data)
        case "bool":
            return str(bool(part.value)).lower()
        case "uuid":
            return data.hex()
        case "crc":
            return f"0x{part.value & 0xFFFFFFFF:08x}"
        case _:
            return str(part.value)


def _bytes(data: bytes) -> str:
    if data and data.isascii() and (text := data.decode()).isprintable():
        said = shorten(repr(text), VALUE)
    else:
        said = shorten(data[:VALUE].hex(), VALUE // 2)
    return f"{plural(len(data), 'byte')} {said}".rstrip()


def _folded(lines: Sequence[Line]) -> Iterator[str]:
    """What is near a changed line and what that stands in."""
    marked = [at for at, line in enumerate(lines) if line.changed or line.holds]
    kept = set(range(len(lines)) if len(lines) <= WHOLE else range(0 if marked else WHOLE))
    for at in marked:
        near = NEAR if lines[at].changed else 0
        kept.update(range(max(at - near, 0), min(at + near + 1, len(lines))))
        depth = lines[at].depth
        for before in range(at - 1, -1, -1):
            if lines[before].depth < depth:
                depth = lines[before].depth
                kept.add(before)
    shown = [
        at
        for at in range(len(lines))
        if {at - 1, at, at + 1} & kept == {at - 1, at + 1} or at in kept
    ]
    before = -1
    for at in [*shown, len(lines)]:
        if at - before > 1:
            yield f"  {'  ' * lines[before + 1].depth}... {plural(at - before - 1, 'more line')}"
        if at < len(lines):
            line = lines[at]
            yield f"{MARK if line.changed else ' '} {'  ' * line.depth}{line.text}"
        before = at
