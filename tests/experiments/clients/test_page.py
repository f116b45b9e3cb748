"""The table as a page: all is text, and each cell says what is behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.clients.page import page
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.verdict import Observation
from tests.experiments.clients.made import cell
from tests.page.browser import axe, axe_in_both_schemes, page_at

TRIAL = Trial(seed=7, raised="X: <img src=x onerror=alert(1)>", code=0, seconds=1.5, fired=3)
CELLS = [
    cell(scenario="none"),
    cell(),
    cell(
        "two@2", word="fails", why="X: <b>no</b>", also=(Observation(word="slow", times=3),)
    ).model_copy(update={"trials": (TRIAL,)}),
    cell("two@2", "lossy-network", word="not met"),
]


def test_what_came_from_clients_is_text() -> None:
    text = page(CELLS, Path("table"))
    assert "3 cells of 2 clients: 2 as expected, 1 unexpected." in text
    assert "<img" not in text
    assert "<b>" not in text
    assert "&lt;img src=x" in text
    assert "barnabas clients rerun two@2/produce/slow-broker --out table" in text
    assert "table/cells/two@2/produce/slow-broker/0" in text


@pytest.mark.needs_chromium
@pytest.mark.parametrize("width", [1400, 420])
def test_it_is_filtered_and_a_cell_has_a_page(tmp_path: Path, width: int) -> None:
    (tmp_path / "clients.html").write_text(page(CELLS, Path("table")))
    with page_at(f"file://{tmp_path / 'clients.html'}", width=width) as shown:
        rows: Any = shown.locator("tbody tr:visible")
        assert rows.count() == 2
        assert axe_in_both_schemes(shown) == []
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shown.get_by_role("combobox", name="verdict").select_option("slow")
        assert rows.count() == 1
        assert shown.get_by_role("status").first.inner_text() == "1 of 3 cells"
        shown.get_by_role("combobox", name="verdict").select_option("fails")
        assert rows.count() == 1
        shown.get_by_role("combobox", name="client").select_option("one@1")
        assert rows.count() == 0
        shown.get_by_role("combobox", name="verdict").select_option("")
        shown.get_by_role("combobox", name="client").select_option("two@2")
        shown.get_by_role("link", name="unexpected: fails").click()
        shown.get_by_text("raised X: <img src=x").wait_for()
        assert rows.count() == 0
        assert shown.locator("h1:visible").inner_text().startswith("slow-broker")
        assert axe_in_both_schemes(shown) == []
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # back among the cells, the filter is as it was
        shown.get_by_role("link", name="all cells").click()
        assert rows.count() == 1
        assert shown.get_by_role("combobox", name="client").input_value() == "two@2"


@pytest.mark.needs_chromium
def test_the_address_keeps_filters_and_cell(tmp_path: Path) -> None:
    (tmp_path / "clients.html").write_text(page(CELLS, Path("table")))
    address = f"file://{tmp_path / 'clients.html'}"
    with page_at(f"{address}#?word=fails&client=two@2") as shown:
        cells: Any = shown.locator("td[data-word]:visible")
        assert shown.get_by_role("combobox", name="verdict").input_value() == "fails"
        assert cells.all_inner_texts() == ["unexpected: fails; slow (+0.0 s)"]
        shown.get_by_role("combobox", name="verdict").select_option("as expected")
        assert cells.count() == 0
        assert shown.get_by_text("No cell matches.").is_visible()
        assert shown.locator("h2:visible").count() == 0
        assert "word=as" in shown.url
        shown.get_by_role("combobox", name="client").select_option("")
        assert cells.count() == 3, "a row stays for its matching cell"
        shown.get_by_role("link", name="as expected").first.click()
        shown.locator("article:visible").wait_for()
        assert "cell=one%401%2Fproduce%2Fnone" in shown.url
        linked = shown.url
        shown.goto("about:blank")
        shown.goto(linked)
        assert shown.locator("article:visible").get_attribute("id") == "one@1/produce/none"


@pytest.mark.needs_chromium
def test_rows_are_sorted_by_a_clients_words_and_names_of_rows_stay(tmp_path: Path) -> None:
    more = [cell(f"{client}@1", scenario="none") for client in ("three", "four")]
    odd = cell(scenario="lossy-network", word="fails")
    (tmp_path / "clients.html").write_text(page([*CELLS, odd, *more], Path("table")))
    with page_at(f"file://{tmp_path / 'clients.html'}") as shown:
        names = shown.locator("tbody th")
        shown.get_by_role("button", name="one@1").press("Enter")
        assert names.all_inner_texts() == ["none", "slow-broker", "lossy-network"]
        shown.get_by_role("button", name="one@1").press("Enter")
        assert names.all_inner_texts()[0] == "lossy-network"
        assert shown.locator("thead .with").is_visible(), "settings stay above"
        shown.get_by_text("Columns").click()
        clients = ["four@1", "one@1", "three@1", "two@2"]
        assert shown.locator(".columns label").all_inner_texts() == clients
        shown.get_by_role("checkbox", name="one@1").uncheck()
        shown.get_by_role("combobox", name="client").select_option("four@1")
        shown.get_by_role("combobox", name="client").select_option("")
        heads = shown.locator("thead tr:first-child th:visible")
        assert heads.all_inner_texts() == ["scenario", "four@1", "three@1", "two@2"]
        assert axe(shown) == []


def test_words_brokers_and_trials_are_told_and_what_nobody_met_is_no_cell() -> None:
    text = page(CELLS, Path("table"))
    assert "Brokers: apache:4.3.1. Clients: one@1, two@2. Trials of a cell: up to 1." in text
    assert "<dt>fails</dt><dd>the client raised an error" in text
    assert "unstable" not in text
    differing = page([cell(word="lost", times=1)], Path("table"))
    assert "<dt>unstable</dt><dd>the runs of the cell differ" in differing
    assert 'data-word="lost|unstable"' in differing
    assert 'id="two@2/produce/lossy-network"' not in text
    assert '<a href="table/cells/two%402/produce/slow-broker/0/">' in text
    assert "barnabas decode table/cells/two@2/produce/slow-broker/0/run.pcapng" in text
