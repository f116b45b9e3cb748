"""The table as a page: all is text, and each cell says what is behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.clients.page import page
from barnabas.experiments.clients.trial import Trial
from tests.experiments.clients.made import cell
from tests.page.browser import LOOKS, axe, page_at

TRIAL = Trial(seed=7, raised="X: <img src=x onerror=alert(1)>", code=0, seconds=1.5, fired=3)
CELLS = [
    cell(scenario="none"),
    cell(),
    cell("two@2", word="fails", why="X: <b>no</b>").model_copy(update={"trials": (TRIAL,)}),
    cell("two@2", "lossy-network", word="not met"),
]


def test_what_came_from_clients_is_text() -> None:
    text = page(CELLS, Path("table"))
    assert "<img" not in text
    assert "<b>" not in text
    assert "&lt;img src=x" in text
    assert "barnabas clients rerun two@2/produce/slow-broker --out table" in text
    assert "table/cells/two@2/produce/slow-broker/0" in text


@pytest.mark.needs_chromium
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_it_is_filtered_and_followed(tmp_path: Path, scheme: str, width: int) -> None:
    (tmp_path / "clients.html").write_text(page(CELLS, Path("table")))
    with page_at(f"file://{tmp_path / 'clients.html'}", scheme, width) as shown:
        rows: Any = shown.locator("tbody tr:visible")
        assert rows.count() == 2
        shown.get_by_label("word").select_option("fails")
        assert rows.count() == 1
        shown.get_by_label("client").select_option("one@1")
        assert rows.count() == 0
        shown.get_by_label("word").select_option("")
        shown.get_by_label("client").select_option("two@2")
        shown.get_by_role("link", name="fails").click()
        shown.get_by_text("raised X: <img src=x").wait_for()
        assert axe(shown) == []
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
