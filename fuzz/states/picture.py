"""A learned machine as a picture (SVG) and as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from barnabas.fuzz.states.machine import Machine
from barnabas.specs.groups import NONE

LINE: Final = 14
"""Pixels of a line of text."""
CHARACTER: Final = 6
CAPITAL: Final = 8
"""Pixels of a character and of a capital letter, rounded up."""
PADDING: Final = 8
GAP: Final = 28
"""Pixels between boxes of a column."""
CHANNEL: Final = 110
"""Pixels between columns, for the edges."""
MARGIN: Final = 40

_STYLE: Final = """
svg { font: 10px sans-serif; color: #222; background: #fff }
rect { fill: #fff; stroke: currentColor }
path { fill: none; stroke: currentColor; opacity: .35 }
path.back { stroke-dasharray: 4 3 }
text { fill: currentColor }
.name { font-weight: bold }
g:hover > rect { stroke-width: 2 }
@media (prefers-color-scheme: dark) { svg { color: #ddd; background: #1b1b1b } rect { fill: #1b1b1b } }
"""


class Row(NamedTuple):
    """A row of a machine's table: a state, its shortest path, an input, its output and the next state."""

    state: int
    path: str
    input: str
    output: str
    next: int


class Box(NamedTuple):
    """A state in a picture.

    Attributes:
        caption: The state's name; the first line is bold.
        steps: The inputs that lead to other states.
    """

    state: int
    x: int
    y: int
    width: int
    caption: tuple[str, ...]
    steps: tuple[Row, ...]

    @property
    def height(self) -> int:
        """Return the height in pixels."""
        return _height(len(self.caption) + len(self.steps))

    def line(self, number: int) -> int:
        """Return the baseline of a line of text; captions come first."""
        return self.y + PADDING // 2 + LINE * (number + 1) - 3


def rows(machine: Machine) -> Iterator[Row]:
    """Yield the rows of a machine's table."""
    for state, (access, steps) in enumerate(zip(machine.access, machine.steps, strict=True)):
        for name, (output, following) in steps.items():
            yield Row(state, ", ".join(access) or "(initial)", name, output, following)


def svg(machine: Machine, title: str, captions: Sequence[Sequence[str]] = ()) -> str:
    """Return a picture of a machine.

    States are boxes, in columns by the length of their shortest paths. A box has the state's caption and the
    inputs that lead to other states; tooltips have the shortest path and the inputs that change nothing. If
    the pointer is on a box, the edges from and to it stand out.

    Args:
        machine: The machine.
        title: The title.
        captions: Lines that describe each state, by its number.
    """
    boxes = _boxes(machine, captions)
    width = max(box.x + box.width for box in boxes) + MARGIN + CHANNEL // 2
    height = max(box.y + box.height for box in boxes) + MARGIN
    hover = "".join(
        f"svg:has(#s{box.state}:hover) :is(.f{box.state}, .t{box.state}) "
        "{ opacity: 1; stroke-width: 2px }\n"
        for box in boxes
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">'
        f"<style>{_STYLE}{hover}</style><defs><marker id='to' viewBox='0 0 8 8' refX='8' refY='4' "
        "markerWidth='7' markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z' "
        "style='fill:currentColor;opacity:1'/></marker></defs>"
        f'<text class="name" x="{MARGIN}" y="20">{escape(title)}</text>'
        f"{''.join(_edges(boxes))}{''.join(_box(machine, box) for box in boxes)}</svg>\n"
    )


def label(step: Row) -> str:
    """Return the text of a step: its input, its output if it is an error or has more, and the next state."""
    output = "" if step.output == NONE else f": {step.output.removeprefix(f'{NONE}, ')}"
    return f"{step.input}{output} → {step.next}"


def _height(lines: int) -> int:
    return lines * LINE + PADDING


def _width(text: str) -> int:
    return sum(CAPITAL if character.isupper() else CHARACTER for character in text)


def _boxes(machine: Machine, captions: Sequence[Sequence[str]]) -> list[Box]:
    """Return the boxes, a column for each length of shortest paths; none overlaps another one."""
    steps: dict[int, list[Row]] = {state: [] for state in range(len(machine.access))}
    for step in rows(machine):
        if step.next != step.state:
            steps[step.state].append(step)
    columns: dict[int, list[int]] = {}
    for state, access in enumerate(machine.access):
        columns.setdefault(len(access), []).append(state)
    boxes, x = [], MARGIN
    for depth in sorted(columns):
        texts = {}
        for state in columns[depth]:
            first, *others = (*(captions[state] if captions else ()), "")
            texts[state] = (f"{state}  {first}".rstrip(), *filter(None, others))
        width = max(
            _width(text)
            for state, lines in texts.items()
            for text in (*lines, *map(label, steps[state]))
        )
        y = MARGIN
        for state, lines in texts.items():
            box = Box(state, x, y, width + 2 * PADDING, lines, tuple(steps[state]))
            boxes.append(box)
            y += box.height + GAP
        x += width + 2 * PADDING + CHANNEL
    return sorted(boxes)


def _edges(boxes: Sequence[Box]) -> Iterator[str]:
    """Yield an edge for each step to another state, from the step's line to a point of its own."""
    steps = [
        (box, box.line(len(box.caption) + number) - 4, boxes[step.next])
        for box in boxes
        for number, step in enumerate(box.steps)
    ]
    for target in boxes:
        arriving = sorted(
            ((start, y) for start, y, end in steps if end is target),
            key=lambda each: (each[0].x, each[1]),
        )
        for number, (start, y) in enumerate(arriving, 1):
            yield _edge(start, y, target, target.y + target.height * number // (len(arriving) + 1))


def _edge(start: Box, y: int, end: Box, end_y: int) -> str:
    """Return an edge: to later columns it leaves on the right and arrives on the left, else the other way."""
    forward, back = start.x < end.x, start.x > end.x
    x0 = start.x if back else start.x + start.width
    x1 = end.x if forward else end.x + end.width
    bend = CHANNEL * 2 // 3
    x0_bend, x1_bend = x0 + (-bend if back else bend), x1 + (-bend if forward else bend)
    return (
        f'<path class="f{start.state} t{end.state}{" back" if back else ""}" '
        f'd="M{x0} {y}C{x0_bend} {y} {x1_bend} {end_y} {x1} {end_y}" marker-end="url(#to)"/>'
    )


def _box(machine: Machine, box: Box) -> str:
    lines = [*box.caption, *map(label, box.steps)]
    texts = "".join(
        f'<text class="{"" if number else "name"}" x="{box.x + PADDING}" y="{box.line(number)}">'
        f"{escape(line)}</text>"
        for number, line in enumerate(lines)
    )
    return (
        f'<g id="s{box.state}"><title>{escape(_stays(machine, box.state))}</title>'
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="4"/>'
        f"{texts}</g>"
    )


def _stays(machine: Machine, state: int) -> str:
    """Return a state's tooltip: its shortest path, and the inputs that change nothing."""
    stays = [
        f"{name}: {output}"
        for name, (output, following) in machine.steps[state].items()
        if following == state
    ]
    path = ", ".join(machine.access[state]) or "initial state"
    return "\n".join([f"{state}: {path}", *stays])
