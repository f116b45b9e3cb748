"""The report in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.pipeline.report.page import page as made
from barnabas.pipeline.report.page import plotly
from barnabas.pipeline.report.parts import Result
from barnabas.pipeline.report.registry import SECTIONS
from tests.page.browser import page_at
from tests.pipeline.report.made import OVERVIEW, results

SHORT = 40
"""Characters that a name has at an axis, at most."""

CUT = """(() => {
    const table = document.querySelector("#findings .table");
    table.closest("details").open = true;
    return table.scrollWidth - table.clientWidth;
})()"""
METAS = "document.getElementById('latency-0').data.map(trace => trace.meta)"
HANDLERS = """[...document.querySelectorAll("*")].filter(
    one => one.getAttributeNames().some(name => name.startsWith("on"))).length"""


@pytest.mark.needs_chromium
def test_all_plots_are_drawn_without_a_request_or_an_error(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    (row, *others), total, sql = results()["findings"]
    text = f"the brokers reject {'a_long_word_' * 3}"
    findings = Result([{**row, "text": text, "advice": text}, *others], total, sql)
    phases = results()["rebalances"].rows
    member = [row for row in phases if row["member"] == phases[0]["member"]]
    changed = {"findings": findings, "rebalances": Result(member, len(member))}
    file.write_text(made(OVERVIEW, {**results(), **changed}, plotly()), "utf-8")
    asked: list[str] = []
    with page_at(file.as_uri()) as page:  # which refuses what is said on the console
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        page.wait_for_selector("body[data-drawn]")
        assert asked == [file.as_uri()]
        plots = sum(len(section.content(results()).plots) for section in SECTIONS)
        assert page.locator(".js-plotly-plot").count() == plots
        for kind in ("scatterlayer", "barlayer", "heatmaplayer"):
            assert page.locator(f".{kind}").count() > 0

        # of what a client called itself, nothing is more than text
        assert page.locator("img, [href*='evil.test']").count() == 0
        assert page.evaluate(HANDLERS) == 0

        # the columns of findings fit, though their words are long
        assert page.evaluate(CUT) == 0

        label = page.locator("#rebalances .lanes svg").get_attribute("aria-label")
        assert str(label).startswith("1 member from ")

        # a choice shows its own traces, a heading sorts by numbers
        assert set(page.evaluate(METAS)) == {"p99"}
        button = page.locator("button[data-plot=latency-0][data-choice=p50]")
        button.click()
        assert set(page.evaluate(METAS)) == {"p50"}
        assert button.get_attribute("aria-pressed") == "true"
        heading = page.locator("#commits th").filter(has_text="again")
        heading.dispatch_event("click")
        heading.dispatch_event("click")
        column = int(heading.evaluate("one => one.cellIndex")) + 1
        cells = page.locator(f"#commits tbody td:nth-child({column})")
        assert cells.all_text_contents() == ["0", "0", "0", "20"]

        # a long name keeps its ends at an axis, and is whole for who points at it
        names = page.evaluate("document.getElementById('errors-0').data[0].y")
        shown = page.locator("#errors-0 .ytick text").all_text_contents()
        assert any(len(one) > SHORT for one in names)
        assert len(shown) == len(names)
        assert [one for one in shown if len(one) > SHORT] == []
