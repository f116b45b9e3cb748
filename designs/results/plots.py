"""Plots of an experiment as SVG: text that stands next to the Markdown and can be compared line by line.

`lines` is for figures against a number, `dots` for the runs of arms that have none. Both show every
run as a dot and the medians; a reader without colours has the legend's order and the marks.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 800, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 270, 40, 50
BAR: Final = 28.0
"""The width of an arm without a number."""
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Okabe and Ito's colours, which the colour-blind can distinguish."""

Series = Mapping[str, Iterable[tuple[float, float]]]
"""Name -> (x, y) of each run."""


def lines(title: str, x: str, y: str, series: Series) -> str:
    """Plot figures against a number: a dot for each run, and a line through the medians.

    x and y are labels with units. The x axis has a position for each number that occurs, at equal distances.
    Raises ValueError if there are no figures.
    """
    sorted_series = {name: sorted(points) for name, points in series.items()}
    places = sorted({at for points in sorted_series.values() for at, _ in points})
    plot = _Plot(title, x, y, [f"{at:g}" for at in places], _values(sorted_series.values()))
    for number, (name, points) in enumerate(sorted_series.items()):
        medians = []
        for index, at in enumerate(places):
            at_position = [value for where, value in points if where == at]
            plot.runs(
                index, at_position, number, beside=7 * (number - (len(sorted_series) - 1) / 2)
            )
            if at_position:
                medians.append((index, statistics.median(at_position)))
        plot.through(medians, number)
        plot.name(name, number)
    return plot.text()


def dots(title: str, y: str, groups: Mapping[str, Sequence[float]]) -> str:
    """Plot figures of arms: a dot for each run, side by side, and a bar at the median. y: label with unit.

    Raises ValueError if there are no figures.
    """
    plot = _Plot(title, "", y, [str(1 + at) for at in range(len(groups))], _values([
        [(0.0, value) for value in group_values] for group_values in groups.values()
    ]))  # fmt: skip
    for number, (name, group_values) in enumerate(groups.items()):
        plot.runs(number, group_values, number, across=BAR)
        if group_values:
            plot.bar(number, statistics.median(group_values), number, BAR)
        plot.name(f"{number + 1}: {name}", number)
    return plot.text()


class _Plot:
    """The frame of a plot, with axes from 0 upwards."""

    def __init__(
        self, title: str, x: str, y: str, places: Sequence[str], values: Sequence[float]
    ) -> None:
        self._count = len(places)
        self._step = _step(max(values))
        self._top = self._step * max(1, math.ceil(max(values) / self._step))
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            _text(LEFT, 22, title, size=14),
            _text((LEFT + right) / 2, HEIGHT - 12, x, anchor="middle"),
            f'<text transform="translate(16 {(TOP + bottom) / 2:g}) rotate(-90)" '
            f'text-anchor="middle">{escape(y)}</text>',
        ]
        for number in range(round(self._top / self._step) + 1):
            value = number * self._step
            at = self._y(value)
            self._parts.append(
                f'<line x1="{LEFT}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" stroke="#ddd"/>'
            )
            self._parts.append(_text(LEFT - 6, at + 4, f"{value:g}", anchor="end"))
        for index, tick in enumerate(places):
            self._parts.append(_text(self._x(index), bottom + 18, tick, anchor="middle"))

    def _x(self, index: float) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * (index + 0.5) / self._count

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / self._top

    def runs(
        self,
        index: int,
        values: Sequence[float],
        number: int,
        *,
        beside: float = 0.0,
        across: float = 0.0,
    ) -> None:
        """Draw the runs of a series at a position, with a shift, spread across a width."""
        middle = self._x(index) + beside
        for run, value in enumerate(values):
            at = middle + across * ((run + 0.5) / len(values) - 0.5)
            self._parts.append(
                f'<circle cx="{at:.1f}" cy="{self._y(value):.1f}" r="3" fill="{_colour(number)}" '
                'fill-opacity="0.45"/>'
            )

    def through(self, points: Sequence[tuple[int, float]], number: int) -> None:
        """Draw a line through medians."""
        path = " ".join(f"{self._x(index):.1f},{self._y(value):.1f}" for index, value in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2"/>'
        )

    def bar(self, index: int, value: float, number: int, width: float) -> None:
        """Draw a bar at a median."""
        at, x = self._y(value), self._x(index)
        self._parts.append(
            f'<line x1="{x - width / 2:.1f}" y1="{at:.1f}" x2="{x + width / 2:.1f}" y2="{at:.1f}" '
            f'stroke="{_colour(number)}" stroke-width="3"/>'
        )

    def name(self, name: str, number: int) -> None:
        """Add a line to the legend."""
        at = TOP + 18 * number
        self._parts.append(
            f'<rect x="{WIDTH - RIGHT + 12}" y="{at}" width="10" height="10" '
            f'fill="{_colour(number)}"/>'
        )
        self._parts.append(_text(WIDTH - RIGHT + 27, at + 10, name))

    def text(self) -> str:
        """Return the SVG."""
        return "\n".join([*self._parts, "</svg>"]) + "\n"


def _values(series: Iterable[Iterable[tuple[float, float]]]) -> list[float]:
    values = [value for points in series for _, value in points]
    if not values:
        raise ValueError("no figures to plot")
    return values


def _step(most: float) -> float:
    """Return the step between grid lines: 1, 2 or 5 times a power of ten, for 4 to 10 lines."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most / 4))
    return max(step * power for step in (1, 2, 5) if step * power <= most / 4)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(text)}</text>"
    )
