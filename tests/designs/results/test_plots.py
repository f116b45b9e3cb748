from __future__ import annotations

from xml.etree import ElementTree

import pytest

from barnabas.designs.results import plots

SVG = "{http://www.w3.org/2000/svg}"


def heights(text: str) -> list[float]:
    return [float(one.attrib["cy"]) for one in ElementTree.fromstring(text).iter(f"{SVG}circle")]


def test_a_larger_figure_stands_higher_and_none_outside() -> None:
    small, large = heights(plots.dots("t", "ms", {"a": [1.0, 99.0]}))
    assert plots.TOP <= large < small <= plots.HEIGHT - plots.BOTTOM


def test_each_run_is_a_dot_and_each_series_a_line() -> None:
    text = plots.lines("t", "x", "y", {"a": [(1, 1.0), (1, 3.0), (2, 2.0)], "b": [(2, 5.0)]})
    root = ElementTree.fromstring(text)
    assert len(heights(text)) == 4
    first, _ = (one.attrib["points"].split() for one in root.iter(f"{SVG}polyline"))
    # the median of 1 and 3 is where 2 is
    assert first[0].split(",")[1] == first[1].split(",")[1]


def test_names_are_escaped() -> None:
    text = plots.dots("a < b & c", "y", {"<script>": [0.0]})
    assert "<script>" not in text
    assert ElementTree.fromstring(text) is not None


def test_nothing_to_plot() -> None:
    with pytest.raises(ValueError, match="no figures"):
        plots.dots("t", "y", {"a": []})
