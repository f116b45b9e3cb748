from __future__ import annotations

from xml.etree import ElementTree

import pytest

from barnabas.experiments import plots

SVG = "{http://www.w3.org/2000/svg}"


def heights(text: str) -> list[float]:
    return [float(one.attrib["cy"]) for one in ElementTree.fromstring(text).iter(f"{SVG}circle")]


def test_a_larger_figure_stands_higher_and_none_outside() -> None:
    small, large = heights(plots.dots("t", "ms", {"a": [1.0, 99.0]}))
    assert plots.TOP <= large < small <= plots.HEIGHT - plots.BOTTOM


@pytest.mark.parametrize("arms", [1, 2, 12])
def test_the_runs_of_an_arm_stand_side_by_side_within_its_bar(arms: int) -> None:
    root = ElementTree.fromstring(plots.dots("t", "ms", {f"{at}": [1.0] * 5 for at in range(arms)}))
    dots = [float(one.attrib["cx"]) for one in root.iter(f"{SVG}circle")]
    bars = [one.attrib for one in root.iter(f"{SVG}line") if one.attrib.get("stroke-width") == "3"]
    assert len(bars) == arms
    for at, bar in enumerate(bars):
        own = dots[5 * at : 5 * at + 5]
        assert float(bar["x1"]) < own[0] < own[2] < own[4] < float(bar["x2"])
        assert plots.LEFT <= own[0] < own[4] <= plots.WIDTH - plots.RIGHT


def test_each_run_is_a_dot_and_each_series_a_line() -> None:
    text = plots.lines("t", "x", "y", {"a": [(1, 1.0), (1, 3.0), (2, 2.0)], "b": [(2, 5.0)]})
    root = ElementTree.fromstring(text)
    assert len(heights(text)) == 4
    first, _ = (one.attrib["points"].split() for one in root.iter(f"{SVG}polyline"))
    # the median of 1 and 3 is where 2 is
    assert first[0].split(",")[1] == first[1].split(",")[1]


def test_numbers_stand_in_their_order() -> None:
    text = plots.lines("t", "x", "y", {"a": [(20, 1.0), (5, 1.0)]})
    xs = {
        one.text: float(one.attrib["x"])
        for one in ElementTree.fromstring(text).iter(f"{SVG}text")
        if one.text in {"5", "20"} and float(one.attrib["y"]) > plots.HEIGHT - plots.BOTTOM
    }
    assert xs["5"] < xs["20"]


def test_names_are_escaped() -> None:
    text = plots.dots("a < b & c", "y", {"<script>": [0.0]})
    assert "<script>" not in text
    assert ElementTree.fromstring(text) is not None


@pytest.mark.parametrize("figure", [0.0, 1e-9, 7.3, 1e12])
def test_any_size_of_figures(figure: float) -> None:
    (at,) = heights(plots.dots("t", "y", {"a": [figure]}))
    assert plots.TOP <= at <= plots.HEIGHT - plots.BOTTOM


def test_nothing_to_plot() -> None:
    with pytest.raises(ValueError, match="no figures"):
        plots.dots("t", "y", {"a": []})
