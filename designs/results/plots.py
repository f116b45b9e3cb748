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
"""How wide an arm without a number is drawn."""
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Okabe and Ito's, which the colour-blind can tell apart."""

Series = Mapping[str, Iterable[tuple[float, float]]]
"""Name -> (x, y) of each run."""


def lines(title: str, x: str, y: str, series: Series) -> str:
    """Plot figures against a number: a dot a run, and a line through the medians.

    x and y are labels with units. The x axis has a place for each number that occurs, at equal distances.
    Raises ValueError if there are no figures.

    >>> lines("t", "latency (ms)", "rate", {"a": [(0, 1.0), (20, 2.0)]}).count("<circle")
    2
    """
    found = {name: sorted(points) for name, points in series.items()}
    places = sorted({at for points in found.values() for at, _ in points})
    plot = _Plot(title, x, y, [f"{at:g}" for at in places], _values(found.values()))
    for number, (name, points) in enumerate(found.items()):
        medians = []
        for index, at in enumerate(places):
            own = [value for where, value in points if where == at]
            plot.runs(index, own, number, beside=7 * (number - (len(found) - 1) / 2))
            if own:
                medians.append((index, statistics.median(own)))
        plot.through(medians, number)
        plot.name(name, number)
    return plot.text()


def dots(title: str, y: str, groups: Mapping[str, Sequence[float]]) -> str:
    """Plot figures of arms: a dot a run, side by side, and a bar at the median. y: label with unit.

    Raises ValueError if there are no figures.

    >>> "no id" in dots("t", "ms", {"with id": [1.0, 2.0], "no id": [5.0]})
    True
    """
    plot = _Plot(title, "", y, [str(1 + at) for at in range(len(groups))], _values([
        [(0.0, value) for value in own] for own in groups.values()
    ]))  # fmt: skip
    for number, (name, own) in enumerate(groups.items()):
        plot.runs(number, own, number, across=BAR)
        if own:
            plot.bar(number, statistics.median(own), number, BAR)
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
        for index, place in enumerate(places):
            self._parts.append(_text(self._x(index), bottom + 18, place, anchor="middle"))

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
        """Draw the runs of a series at one place, with a shift, and spread across a width."""
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
    found = [value for points in series for _, value in points]
    if not found:
        raise ValueError("no figures to plot")
    return found


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
