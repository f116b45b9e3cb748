"""The reader's filter, the SQL to copy and the lanes, in a real browser at two widths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.pipeline.report.page import page as made
from barnabas.pipeline.report.page import plotly
from tests.page.browser import axe_in_both_schemes, choose_scheme, page_at
from tests.pipeline.report.made import HOSTILE, OVERVIEW, results

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow("a browser draws all figures")]


LOOKS = (("light", 1400), ("dark", 420))


@pytest.fixture(scope="module", params=LOOKS, ids=lambda look: str(look[1]))
def looked_at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(made(OVERVIEW, results(), plotly()), "utf-8")
    scheme, width = request.param
    with page_at(file.as_uri(), scheme, width) as page:
        page.wait_for_selector("body[data-drawn]")
        yield page


@pytest.fixture
def report(looked_at: Page) -> Iterator[Page]:
    """With nothing filtered."""
    yield looked_at
    button = looked_at.locator("#filter button")
    if button.is_enabled():
        button.click()


def rows(page: Page, section: str) -> list[str]:
    """Texts of the rows that are not hidden."""
    shown = page.locator(f"#{section} tbody tr:not([hidden])")
    return [(one.text_content() or "").strip() for one in shown.all()]


def drawn(page: Page, figure: str) -> Any:
    """The traces of a figure."""
    return page.evaluate("name => document.getElementById(name).data", figure)


def test_nothing_is_wider_than_the_page_and_all_can_be_used_by_anybody(report: Page) -> None:
    width = report.viewport_size
    assert width is not None
    assert report.evaluate("document.documentElement.scrollWidth") <= width["width"]
    assert axe_in_both_schemes(report) == []


def test_plots_follow_the_switch_of_colours(report: Page) -> None:
    """Their colours are those of the page, whatever the system prefers."""
    drawn_in = []
    for scheme in ("light", "dark"):
        choose_scheme(report, scheme)
        drawn_in.append(
            report.evaluate("document.getElementById('latency-0').layout.hoverlabel.bgcolor")
        )
        assert drawn_in[-1] == report.evaluate(
            "getComputedStyle(document.querySelector('.panel')).backgroundColor"
        )
    assert len(set(drawn_in)) == 2
    choose_scheme(report, "system")


def test_a_column_is_hidden_and_shown_again(report: Page) -> None:
    section = report.locator("#commits")
    heading = section.get_by_role("button", name="committed", exact=True)
    section.get_by_text("Columns").first.click()
    section.get_by_label("committed", exact=True).uncheck()
    assert heading.count() == 0
    section.get_by_label("committed", exact=True).check()
    assert heading.count() == 1
    report.keyboard.press("Escape")
    assert section.locator(".columns[open]").count() == 0


def test_one_client_is_chosen_by_keys_for_all_sections(report: Page) -> None:
    report.locator("#filter [name=client]").focus()
    report.keyboard.press("p")  # more letters, typed slowly, begin another name
    report.locator("#filter output", has_text=re.compile(r"of \d+ rows")).wait_for()
    assert all(text.startswith("payments") for text in rows(report, "errors"))
    assert len(rows(report, "retries")) == 1
    assert {trace["name"] for trace in drawn(report, "latency_clients-0")} == {
        f"payments → broker 2, {api}" for api in ("Produce", "Fetch", "Metadata", "Heartbeat")
    }
    bars = drawn(report, "errors-0")
    assert {name for trace in bars for name in trace["y"]} == {"payments"}
    assert [trace["name"] for trace in drawn(report, "in_flight-0")] == ["payments"]
    assert report.locator("#rebalances .names div:not(.band)").all_inner_texts() == [
        "payments 0ffee2"
    ]
    # what other clients did stands out no more
    assert report.locator(".said li:not([hidden])", has_text="orders tried").count() == 0
    assert report.locator(".said li:not([hidden])", has_text="payments tried").count() == 1

    report.locator("#filter button").click()
    assert len(rows(report, "retries")) == 3
    assert report.locator("p.filtered:visible").count() == 0


def test_what_can_not_follow_says_so_and_what_has_nothing_left_too(report: Page) -> None:
    report.locator("#filter [name=topic]").select_option("payments")
    assert len(rows(report, "hot_partitions")) == 1
    assert len(drawn(report, "hot_partitions-0")[0]["y"]) == 1
    said = report.locator("#commits p.filtered:visible")
    assert said.all_inner_texts() == ["Nothing here matches the filter."]
    said = report.locator("#rules p.filtered:visible")
    assert set(said.all_inner_texts()) == {
        "The filter's topic can't be told apart here: this is of all."
    }


@pytest.mark.parametrize(
    "change",
    [
        {"xaxis.range[0]": "2026-11-21 14:05:39"},
        {"xaxis.range[1]": "2026-11-21 14:05:44.5"},
        {"xaxis.range": ["2026-11-21 14:05:39", "2026-11-21 14:05:44.5"]},
        {"xaxis.range": [1795269939000, 1795269944500]},
    ],
)
def test_the_zoom_is_that_of_all_whatever_plotly_says_of_its_ends(
    report: Page, change: dict[str, object]
) -> None:
    before = report.evaluate("document.getElementById('latency-0').layout.xaxis.range ?? null")
    report.evaluate("change => Plotly.relayout('latency-0', change)", change)
    report.locator("#filter button:enabled").wait_for()
    ranges = report.evaluate(
        """() => ["latency-0", "latency_clients-0"].map(
            name => document.getElementById(name)._fullLayout.xaxis.range.map(at => at.slice(0, 19)))"""
    )
    assert ranges[0] == ranges[1] != before


def test_a_time_that_a_figure_is_zoomed_to_is_that_of_all(report: Page) -> None:
    report.evaluate(
        """() => Plotly.relayout("latency-0",
            {"xaxis.range[0]": "2026-11-21 14:05:39", "xaxis.range[1]": "2026-11-21 14:05:44.5"})"""
    )
    report.locator("#filter button:enabled").wait_for()
    assert report.locator("#filter [name=from]").input_value() == "2026-11-21T14:05:39"
    assert len(rows(report, "retries")) == 1
    report.locator("#filter [name=from]").fill("2026-11-21T14:05:45")
    said = report.locator("#filter output")
    assert said.inner_text() == "The time ends before it begins: the filter stays as it was."
    assert len(rows(report, "retries")) == 1
    report.locator("#filter [name=to]").fill("2026-11-21T14:05:52")
    assert len(rows(report, "retries")) == 2
    ranges = report.evaluate(
        """() => ["latency_clients-0", "latency_heatmap-0"].map(
            name => document.getElementById(name)._fullLayout.xaxis.range[0].slice(11, 19))"""
    )
    assert ranges == ["14:05:45", "14:05:45"]
    # the second generation begins at 14:05:50, the third after that
    assert report.locator("#rebalances svg text:not(.tick text)").all_text_contents() == ["1", "2"]


def test_lanes_say_who_was_late_and_what_a_phase_was(report: Page) -> None:
    late = report.locator("#rebalances .names .late", has_text="(late)")
    assert late.get_attribute("title") == (
        f"{HOSTILE} 0ffee3, consumer-3-c0ffee3, late in generation 2"
    )
    assert report.locator("#rebalances rect.waited title").text_content() == (
        "join at 14:05:56.000, generation 2: a member joined"
    )
    assert report.locator("#rebalances rect.still").count() == 3
    missed = report.locator("#rebalances .names .late", has_text="(missed one)")
    assert (missed.get_attribute("title") or "").endswith(", missed generation 3")


def test_the_legend_of_lanes_has_their_colours(report: Page) -> None:
    lanes, legend = report.locator("#rebalances svg"), report.locator("#rebalances .legend")
    drawn = "one => [getComputedStyle(one).fill, getComputedStyle(one).opacity]"
    shown = "one => (of => [of.color, of.opacity])(getComputedStyle(one, '::before'))"
    kinds = ("join", "sync", "consuming")
    for name, entry in (("still", "stood"), *((kind, kind) for kind in kinds)):
        colours = lanes.locator(f"rect.{name}").first.evaluate(drawn)
        assert legend.locator(f".{entry}").first.evaluate(shown) == colours
    assert len({str(lanes.locator(f"rect.{kind}").first.evaluate(drawn)) for kind in kinds}) == 3
    assert legend.get_by_text("a generation, in one of two shades").is_visible()


def test_lanes_have_an_axis_of_time(report: Page) -> None:
    times = report.locator("#rebalances .lanes .tick text").all_text_contents()
    assert times == ["14:05:30", "14:06:00", "14:06:30"]
    assert report.locator("#rebalances .legend").get_by_text("times in UTC").is_visible()


def test_a_name_that_is_cut_is_whole_for_who_looks_for_it(report: Page) -> None:
    name = report.locator("#rebalances .names div", has_text="(missed one)")
    whole = "one => one.scrollWidth <= one.clientWidth"
    assert not name.evaluate(whole)
    height = name.evaluate("one => one.parentElement.clientHeight")
    name.focus()
    assert name.evaluate(whole)
    # beside the lanes, where it was
    assert name.evaluate("one => one.parentElement.clientHeight") == height
    name.blur()


def test_sentences_follow_the_filter_as_their_tables_do(report: Page) -> None:
    report.locator("#filter [name=client]").select_option("orders")
    # all findings are of another client, and so are all late members
    assert report.locator("#findings .says li:visible").count() == 0
    assert "Nothing here matches the filter." in report.locator("#findings").inner_text()
    assert report.locator(".said li:visible", has_text="joins: 1 warning").count() == 0
    # what is of several clients stays, and says so
    for section, names in (("rebalances", "client"), ("rules", "client")):
        (said, *_) = report.locator(f"#{section} .says li:visible").all_inner_texts()
        assert said.endswith(f" (not of this {names} alone)")
    report.locator("#filter button").click()
    assert report.locator(".more").count() == 0


def test_the_sql_of_a_section_is_copied(report: Page) -> None:
    report.context.grant_permissions(["clipboard-read", "clipboard-write"])
    section = report.locator("#errors")
    section.get_by_text("SQL of these numbers").click()
    section.get_by_role("button", name="Copy").click()
    section.get_by_role("status").get_by_text("copied").wait_for()
    copied = report.evaluate("navigator.clipboard.readText()")
    assert copied == "-- errors\nSELECT *\nFROM made;\n\n-- errors_over_time\nSELECT *\nFROM made;"


def test_a_heading_sorts_by_keys(report: Page) -> None:
    heading = report.locator("#latency_clients").get_by_role("button", name="exchanges", exact=True)
    report.locator("#latency_clients summary").first.click()
    heading.press("Enter")
    sorted_by = report.locator("#latency_clients th[aria-sort]")
    assert sorted_by.get_attribute("aria-sort") == "descending"
    report.locator("#latency_clients summary").first.click()
