"""The message of a case as a tree of its fields, with the changed ones marked.

The valid message is shown, since the changed one often can't be read. Of a long message, the lines near
changed fields and the structures around them are shown; the others are counted.
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
"""Lines before and after a changed field that are shown."""

WHOLE: Final = 24
"""Lines of the longest message that is shown whole."""

VALUE: Final = 48
"""Characters of a value."""

DETAIL: Final = 120
"""Characters of the description of a change."""

MARK: Final = ">"

_FIXED: Final = frozenset(("int8", "int16", "int32", "int64", "uint16", "uint32"))
"""Kinds of numbers whose size does not depend on the value."""


class Line(NamedTuple):
    """A line of the tree.

    Attributes:
        depth: The depth of the field.
        text: The line.
        changed: The field was changed.
        holds: The field is a container with a changed field.
    """

    depth: int
    text: str
    changed: bool = False
    holds: bool = False


class MarkedBytes(NamedTuple):
    """Bytes of a frame to be marked; offsets include the size."""

    start: int
    end: int


def tree(recipe: Recipe, chunk: bytes | None = None) -> Iterator[str]:
    """Yield the lines of a recipe's message.

    chunk: the changed message, if it is one chunk.
    """
    chart = map_of(recipe.seed)
    changes = {item.path: _said(item) for item in recipe.changes if item.path}
    became = {} if chunk is None else _became(recipe, chart, chunk)
    charts = [
        chart,
        *(item for item in charts_of(chart)[1:] if not changes.keys().isdisjoint(item.index)),
    ]
    holding = {item.packing.part.path for item in charts if item.packing is not None}
    lines = [line for item in charts for line in _lines(item, changes, holding, became)]
    seed = recipe.seed
    yield f"{NAMES.get(seed.key, seed.key)} v{seed.version} {seed.direction}"
    yield from _folded(lines)
    paths = {path for item in charts for path in item.index}
    for change in recipe.changes:
        if not change.path or change.path not in paths:
            yield f"{MARK} {change.path or 'the frame'}  <-- {_said(change)}"


def place(recipe: Recipe, chunk: bytes) -> MarkedBytes | None:
    """Return the bytes of a recipe's change in its chunk; None if unknown, as for two changes.

    Compressed data change as a whole. If bytes were removed, the span is empty, or ends with the chunk.
    """
    if len(recipe.changes) != 1:
        return None
    chart, path = map_of(recipe.seed), recipe.changes[0].path
    inner = next((candidate for candidate in charts_of(chart) if path in candidate.index), None)
    if inner is None or not path:
        return None
    part = inner.parts[inner.index[path]]
    packing = inner.packing
    while packing is not None:
        outer = packing.part
        if packing.codec == "none":  # a container's bytes are unchanged in the message
            part = part._replace(start=outer.start + part.start, end=outer.start + part.end)
        else:
            part = outer
        packing = packing.outer.packing
    start = min(part.start + 4, len(chunk))
    end = len(chunk) - (len(chart.framed) - part.end - 4)
    return MarkedBytes(start, max(start, min(end, len(chunk))))


def _said(change: Change) -> str:
    return (
        f"{change.mutator}: {shorten(printable(change.detail), DETAIL)}"
        if change.detail
        else change.mutator
    )


def _became(recipe: Recipe, chart: FieldMap, chunk: bytes) -> dict[str, int]:
    """Return the number that replaced one of fixed size, by its path."""
    if len(recipe.changes) != 1 or (path := recipe.changes[0].path) not in chart.index:
        return {}
    part, span = chart.parts[chart.index[path]], place(recipe, chunk)
    if part.kind not in _FIXED or span is None or span.end - span.start != part.end - part.start:
        return {}
    data = chunk[span.start : span.end]
    return {path: int.from_bytes(data, "big", signed=not part.kind.startswith("u"))}


def _lines(
    chart: FieldMap, changes: dict[str, str], holding: Set[str], became: Mapping[str, int]
) -> Iterator[Line]:
    """Yield a map's parts; lengths and counts only if they were changed, or are fields."""
    above = 0
    if chart.packing is None:
        yield Line(0, "header")
    else:
        how = "in parts" if chart.packing.codec == "none" else "unpacked"
        yield Line(0, f"{chart.packing.part.path}, {how}")
        above = len(_names(chart.packing.part.path)) - 2
    for part in chart.parts:
        description = changes.get(part.path)
        if part.kind == "frame" or (description is None and _left_out(part)):
            continue
        names = _names(part.path)
        name, depth = names[-1], len(names) - 1 - above
        if part.kind in ("length", "count", "marker") and not names[-2].startswith("["):
            name, depth = (
                ".".join(names[-2:]),
                depth - 1,
            )  # a length is shown at the level of its field
        value = _value(chart.seed.frame, part)
        text = f"{name}: {value}" if value else name
        text += f" -> {became[part.path]}" if part.path in became else ""
        text = f"{text}  <-- {description}" if description else text
        yield Line(depth, text, description is not None, part.path in holding)


def _names(path: str) -> list[str]:
    """Return a path's names and indices, one for each level."""
    return path.replace("[", ".[").split(".")


def _left_out(part: Part) -> bool:
    """Return whether a part is a number about others, or a section without a tag."""
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
        preview = shorten(repr(text), VALUE)
    else:
        preview = shorten(data[:VALUE].hex(), VALUE // 2)
    return f"{plural(len(data), 'byte')} {preview}".rstrip()


def _folded(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the lines near a changed one, and the structures around it."""
    marked = [at for at, line in enumerate(lines) if line.changed or line.holds]
    shown_lines = set(range(len(lines)) if len(lines) <= WHOLE else range(0 if marked else WHOLE))
    for at in marked:
        near = NEAR if lines[at].changed else 0
        shown_lines.update(range(max(at - near, 0), min(at + near + 1, len(lines))))
        depth = lines[at].depth
        for before in range(at - 1, -1, -1):
            if lines[before].depth < depth:
                depth = lines[before].depth
                shown_lines.add(before)
    visible = [
        at
        for at in range(len(lines))
        if {at - 1, at, at + 1} & shown_lines == {at - 1, at + 1} or at in shown_lines
    ]
    before = -1
    for at in [*visible, len(lines)]:
        if at - before > 1:
            yield f"  {'  ' * lines[before + 1].depth}... {plural(at - before - 1, 'more line')}"
        if at < len(lines):
            line = lines[at]
            yield f"{MARK if line.changed else ' '} {'  ' * line.depth}{line.text}"
        before = at
