"""A learned machine as a picture (SVG) and as a table. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from barnabas.fuzz.states.machine import Machine

RADIUS: Final = 18
COLUMN: Final = 260
"""Pixels between states whose shortest paths differ by an input."""
ROW: Final = 130
MARGIN: Final = 70
LINE: Final = 12
"""Pixels of a line of a label."""
LABEL_AT: Final = 0.36
"""The share of an edge before its label."""
MOST: Final = 3
"""Inputs that a label names; the tooltip has all."""

_STYLE: Final = """
svg { font: 10px sans-serif; color: #222; background: #fff }
circle, path { fill: none; stroke: currentColor }
path { opacity: .5 }
text { fill: currentColor; text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 3px }
@media (prefers-color-scheme: dark) {
  svg { color: #ddd; background: #1b1b1b }
  text { stroke: #1b1b1b }
}
"""


class Row(NamedTuple):
    """A row of a machine's table: a state, its shortest path, an input, its output and the next state."""

    state: int
    path: str
    input: str
    output: str
    next: int


def rows(machine: Machine) -> Iterator[Row]:
    """Yield the rows of a machine's table."""
    for state, (access, steps) in enumerate(zip(machine.access, machine.steps, strict=True)):
        for name, (output, following) in steps.items():
            yield Row(state, ", ".join(access) or "(initial)", name, output, following)


def svg(machine: Machine, title: str) -> str:
    """Return a picture of a machine.

    States are in columns by the length of their shortest paths. An edge is labelled with the inputs that
    lead from a state to another one; tooltips have the outputs, and the inputs that change nothing.
    """
    places = _places(machine)
    width = max(x for x, _ in places) + MARGIN + COLUMN // 2
    height = max(y for _, y in places) + MARGIN
    edges = "".join(_edges(machine, places))
    states = "".join(
        f'<g><title>{escape(_stays(machine, state))}</title><circle cx="{x}" cy="{y}" r="{RADIUS}"/>'
        f'<text x="{x}" y="{y + 4}">{state}</text></g>'
        for state, (x, y) in enumerate(places)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">'
        f"<style>{_STYLE}</style><defs><marker id='to' viewBox='0 0 8 8' refX='8' refY='4' "
        "markerWidth='7' markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z' "
        "style='fill:currentColor'/></marker></defs>"
        f'<text x="{width // 2}" y="20">{escape(title)}</text>{edges}{states}</svg>\n'
    )


def _places(machine: Machine) -> list[tuple[int, int]]:
    """Return the center of each state."""
    columns: dict[int, int] = {}
    places = []
    for access in machine.access:
        depth = len(access)
        number = columns[depth] = columns.get(depth, -1) + 1
        stagger = ROW // 2 if depth % 2 else 0  # so that edges do not run through states
        places.append((MARGIN + COLUMN * depth, MARGIN + ROW * number + stagger))
    return places


def _edges(machine: Machine, places: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield the edges between different states."""
    for state, steps in enumerate(machine.steps):
        by_next: dict[int, list[str]] = {}
        for name, (output, following) in steps.items():
            if following != state:
                by_next.setdefault(following, []).append(f"{name}: {output}")
        for following, labels in by_next.items():
            yield _edge(places[state], places[following], labels)


def _edge(start: tuple[int, int], end: tuple[int, int], labels: Sequence[str]) -> str:
    """Return a curved edge with its label; edges in both directions bend to different sides."""
    (x0, y0), (x1, y1) = start, end
    length = math.hypot(x1 - x0, y1 - y0)
    bend = 26 + length / 12
    normal_x, normal_y = -(y1 - y0) / length, (x1 - x0) / length
    mid_x, mid_y = (x0 + x1) / 2 - normal_x * bend, (y0 + y1) / 2 - normal_y * bend
    from_x, from_y = _rim(x0, y0, mid_x, mid_y)
    to_x, to_y = _rim(x1, y1, mid_x, mid_y)
    names = [label.rpartition(": ")[0] for label in labels]
    lines = (
        names if len(names) <= MOST else [*names[: MOST - 1], f"and {len(names) - MOST + 1} more"]
    )
    at_x, at_y = _on_curve((from_x, from_y), (mid_x, mid_y), (to_x, to_y))
    text = "".join(
        f'<text x="{at_x:.0f}" y="{at_y + LINE * (number - (len(lines) - 1) / 2):.0f}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f"<g><title>{escape(chr(10).join(labels))}</title>"
        f'<path d="M{from_x:.0f} {from_y:.0f}Q{mid_x:.0f} {mid_y:.0f} {to_x:.0f} {to_y:.0f}" '
        f'marker-end="url(#to)"/>{text}</g>'
    )


def _on_curve(
    start: tuple[float, float], control: tuple[float, float], end: tuple[float, float]
) -> tuple[float, float]:
    """Return a point on a quadratic curve, nearer its start: labels of both directions then lie apart."""
    shares = (1 - LABEL_AT) ** 2, 2 * LABEL_AT * (1 - LABEL_AT), LABEL_AT**2
    x, y = (
        sum(share * at for share, at in zip(shares, axis, strict=True))
        for axis in zip(start, control, end, strict=True)
    )
    return x, y


def _rim(x: float, y: float, toward_x: float, toward_y: float) -> tuple[float, float]:
    """Return the point on a state's circle toward another point."""
    length = math.hypot(toward_x - x, toward_y - y) or 1
    return x + (toward_x - x) * RADIUS / length, y + (toward_y - y) * RADIUS / length


def _stays(machine: Machine, state: int) -> str:
    """Return a state's tooltip: its shortest path, and the inputs that change nothing."""
    stays = [
        f"{name}: {output}"
        for name, (output, following) in machine.steps[state].items()
        if following == state
    ]
    path = ", ".join(machine.access[state]) or "initial state"
    return "\n".join([f"{state}: {path}", *stays])
